"""Native code by LLVM from the scalar graph."""
