"""ptxgen: PTX written, checked, emitted and run from Python."""
