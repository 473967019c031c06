//! The `hookbox` command.

#![warn(clippy::unwrap_used, clippy::expect_used)]

use std::process::exit;

fn main() {
    // Everything worth keeping is written by now; taking the sandbox apart
    // piece by piece would only cost time.
    exit(hookbox::cli::main())
}
