"""Systems made of another system: with forces, with some coordinates prescribed in time, with a potential more, in
another frame.

Each is a `mechanics.system.Wrapper` that changes one thing and hands on the rest. No system of the papers lives here.
"""
