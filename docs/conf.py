"""The documentation site: `make docs` builds it, without network, into docs/_build/html."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "site"), str(Path(__file__).parents[1])]

import generate  # noqa: E402

import discrete_hamel  # noqa: E402

generate.main()

project = "discrete_hamel"
author = "the discrete_hamel developers"
release = version = discrete_hamel.__version__
extensions = ["myst_nb", "sphinx_copybutton", "transforms"]
html_math_renderer = "mathml"  # of transforms.py
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]  # the notebooks write formulas as LaTeX
myst_heading_anchors = 3
nb_execution_mode = "off"  # tests/test_notebooks.py runs them; the site shows the outputs that are kept
exclude_patterns = ["_build", "site", "speed/*.json"]
suppress_warnings = ["mystnb.unknown_mime_type"]
html_theme = "furo"
html_title = f"discrete_hamel {release}"
html_static_path = ["site/static"]
html_extra_path = ["generated/films"]  # films/ and gallery/, at the site's root
html_css_files = ["site.css"]
html_js_files = ["film.js", "sleigh.js"]
html_theme_options = {"navigation_with_keys": True}
html_show_copyright = False
html_use_index = False  # it would be empty: the reference is the index
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_dark_style = "github-dark"
