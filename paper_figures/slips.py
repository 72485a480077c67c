"""What is wrong in the papers' print, what is right, and the test that shows it, in the order of the papers.

A test named here computes both forms: it passes with the right one and fails with the printed one. Misprints that no
formula can be made of (indices that occur once, captions such as "m_2 = 2 m_2") are not listed.
"""

from typing import NamedTuple


class Slip(NamedTuple):
    """A paper's tag, the place, what is right, what is printed, and the test by name."""

    paper: str
    place: str
    right: str
    printed: str
    test: str


HERE = "tests/paper_figures/test_slips.py::"

SLIPS = (
    Slip(
        "HE",
        "(6.6), the pendulum's step",
        "The right side has a factor 1/2, as (5.6) at tau = 1/2 gives it; with it energy, vertical momentum and "
        "|gamma| hold to round-off.",
        "without the factor: gravity is doubled, and energy is off by 7e-2 in the paper's own run",
        f"{HERE}test_he_6_6_has_a_half",
    ),
    Slip(
        "HE",
        "(5.6), its proof",
        "[xi, mu]*, as the theorem has it, with components c^k_ij xi^i mu_k.",
        "[mu, xi]* in the proof, which is the opposite",
        f"{HERE}test_he_5_6_has_xi_before_mu",
    ),
    Slip(
        "HE",
        "3.2, and [QS] 2.1",
        "Where c depends on q the bracket at a point is no Lie bracket: Jacobi's sum vanishes only with the terms "
        "u_i[c].",
        "that the space W with the bracket at q is a Lie algebra",
        f"{HERE}test_he_3_2_the_bracket_at_a_point_is_no_lie_algebra",
    ),
    Slip(
        "QS",
        "2.5, curvature B^c_ab",
        "+ C^c_ab A^a A^b, as in (4.11).",
        "- C^c_ab A^a A^b",
        f"{HERE}test_qs_2_5_curvature_has_plus",
    ),
    Slip(
        "QS",
        "(4.9), the last coefficient",
        "D_b,alpha,beta, as in Theorem 4.1 and (4.11).",
        "D_b,beta,alpha: with two shapes the equation is then off (Chaplygin's sphere by 0.46)",
        f"{HERE}test_qs_4_9_last_coefficient_is_d_b_alpha_beta",
    ),
    Slip(
        "QS",
        "6.2, spatial momentum of the sleigh",
        "mu_3 = m [(eta^3 + x eta^1) + a eta^1 cos theta].",
        "eta^2 - y eta^1 in the bracket",
        f"{HERE}test_qs_6_2_spatial_momentum_has_eta_3",
    ),
    Slip(
        "QS",
        "6.2, l in the frame of constant momenta",
        "The term before the sine has the factor k.",
        "the factor a: then p_1 and p_2 are not constant",
        f"{HERE}test_qs_6_2_energy_in_the_momentum_frame_has_k",
    ),
    Slip(
        "QS",
        "(6.16), Liouville's formula",
        "W = exp(- int Tr tau), by (6.15): cos theta for the disk.",
        "without the minus sign: 1/cos theta",
        f"{HERE}test_qs_6_16_wronskian_falls_with_the_trace",
    ),
    Slip(
        "QS",
        "6.5, momenta of the rolling disk",
        "p_1 = A phi' cos theta and p_2 = (m R^2 + B)(phi' sin theta + psi'), along e_2 and e_1.",
        "other p_1, p_2, which do not satisfy the momentum equations printed after them",
        f"{HERE}test_qs_6_5_momenta_of_the_disk",
    ),
    Slip(
        "QS",
        "(6.18), second equation",
        "Its right side is B/(m R^2 + B) eta^1.",
        "eta^2 for eta^1: the momenta along eta are then not kept",
        f"{HERE}test_qs_6_18_has_eta_1",
    ),
    Slip(
        "ND",
        "(16)-(17), invariant measures",
        "They need an invariant metric that identifies g and its dual, as compact and semisimple groups have it; for "
        "the Euclidean group, and so for the sleigh that follows, (15) decides.",
        "right after (17): if and only if a is an eigenvector of the inertia tensor, as if for all groups",
        f"{HERE}test_nd_16_17_decide_on_semisimple_groups_only",
    ),
    Slip(
        "BE",
        "8.1, inertia of two points with orthogonal velocities",
        "G_12 = - rho m_2, so that det G = rho^2 m_1 m_2 > 0 always.",
        "- 2 rho m_2",
        f"{HERE}test_be_8_1_inertia_has_no_two",
    ),
    Slip(
        "BE",
        "(49), the equations that follow",
        "Regular for all masses.",
        "a denominator mu rho - 4 that vanishes for m_1 = 3 m_2",
        "tests/mechanics/test_gibbs_appell.py::test_49_as_printed_is_refuted",
    ),
    Slip(
        "MD",
        "2.1, magnetic force",
        "The force has the charge of the particle as a factor.",
        "without the charge",
        f"{HERE}test_md_2_1_magnetic_force_has_the_charge",
    ),
    Slip(
        "MD",
        "3.2, Proposition 3.2.1",
        "One motion for each initial velocity in D.",
        "for each place q_0",
        f"{HERE}test_md_3_2_1_a_motion_needs_a_velocity_too",
    ),
    Slip(
        "MD",
        "(3.3), Hamilton's principle with M",
        "The variation of the action plus int M(dq, q') dt is zero.",
        "M(q', dq), the opposite sign",
        f"{HERE}test_md_3_3_hamiltons_principle_has_m_of_the_variation_first",
    ),
    Slip(
        "MD",
        "3.3 and 3.6, the form",
        "The form is that of L plus the pull-back of M.",
        "half the pull-back",
        f"{HERE}test_md_3_6_the_form_has_no_half",
    ),
    Slip(
        "MD",
        "(4.4) and (8.2)",
        "The bracket term has the sign +1/2.",
        "-1/2: off by as much as the body's size within 1.5 s",
        "tests/systems/test_adapted_frames.py::test_the_printed_sign_of_the_bracket_term_is_wrong",
    ),
    Slip(
        "MD",
        "5.1, the constant for M = dN",
        "p^sigma + N(sigma).",
        "N(q') for N(sigma)",
        f"{HERE}test_md_5_1_the_constant_has_n_of_sigma",
    ),
    Slip(
        "MD",
        "8.1, proof of Lemma 8.1.1",
        "The left side has - 1/2 dK(q', q') + dU beside the rate of the momentum.",
        "the first of these is missing, the second has a minus sign",
        f"{HERE}test_md_8_1_1_display_has_the_slope_of_k",
    ),
    Slip(
        "MD",
        "8.4, Lemma 8.4.4 to Corollary 8.4.1",
        "Where H has two dimensions or more, a term of the part of [kappa_i, kappa_j] along N is to be kept: the "
        "Chaplygin sphere does not reduce to the system on the sphere's tangent bundle, unless its moments are equal.",
        "without that term",
        "tests/analysis/test_reduction_of_the_chaplygin_sphere.py::"
        "test_the_motion_reduced_on_the_sphere_goes_wrong_unless_the_moments_are_equal",
    ),
    Slip(
        "MD",
        "8.5, Proposition 8.5.1",
        "That the tangent of Sigma maps tau to zero and that tau is in D imply tau = 0.",
        "without tau in D, which none of the examples satisfies",
        f"{HERE}test_md_8_5_1_only_velocities_in_d_are_fixed_by_their_shadow",
    ),
    Slip(
        "MD",
        "chapter 9, the sizes h and d",
        "h' = -a sin theta: a body has one function only.",
        "h and d as if they were free",
        f"{HERE}test_md_9_heights_h_and_d_are_not_free",
    ),
    Slip(
        "MD",
        "9.7, case 4",
        "S'(-1) has the minus sign twice: -C2 r J1 [J3 - m r (a - r)]/(J1 + m (a - r)^2).",
        "both with plus: then U'' at pi is 8.4878, not 7.9492",
        "tests/systems/test_routh_top.py::test_curvature_of_the_amended_potential_at_the_poles",
    ),
    Slip(
        "MD",
        "10.5, the hoop",
        "-a phi' + z' = u/v.",
        "-u/v",
        f"{HERE}test_md_10_5_hoop_has_plus_u_over_v",
    ),
    Slip(
        "MD",
        "10.6, energy of a sphere on a sphere",
        "The brace is squared.",
        "to the first power",
        "tests/systems/test_balls.py::test_energy_on_the_sphere_is_the_thesis_with_its_brace_squared",
    ),
    Slip(
        "MD",
        "chapter 11, text to figure 11.7",
        "The maximum is at -0.1346 pi, 24.2 degrees below the horizontal.",
        "-0.12 pi, 21 degrees, read off the plot",
        f"{HERE}test_md_11_7_maximum_is_not_where_the_plot_was_read",
    ),
    Slip(
        "MD",
        "13.6, the flow of sigma_i",
        "x goes to x + s r A(eps_i) eps_3, a translation.",
        "a rotation of x",
        f"{HERE}test_md_13_6_the_flow_of_sigma_translates",
    ),
)
