//! The `hookbox` command.

#![warn(clippy::unwrap_used, clippy::expect_used)]

use std::process::exit;

fn main() {
    // Everything worth keeping is written by then; taking the sandbox apart
    // piece by piece would only cost time.
    exit(hookbox::cli::main(look_names_up_alone))
}

/// Has names of hosts and users looked up by what is in this binary. Other ways to do it are
/// libraries of the machine, which may belong to another version of the C library than the
/// one in here: loading one of those can end the process, and then nobody has decided.
#[cfg(static_libc)]
#[expect(unsafe_code, reason = "only the C library itself can be told")]
fn look_names_up_alone() {
    use std::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
    }
    for (database, services) in [(c"hosts", c"files dns"), (c"passwd", c"files")] {
        // SAFETY: it reads two texts, which end with a zero and are never freed, and keeps
        // what it made of them behind a lock. The function belongs to every glibc, and only
        // a binary that was linked with glibc has this code.
        unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) };
    }
}

/// The C library is the machine's own, and so are its ways.
#[cfg(not(static_libc))]
fn look_names_up_alone() {}
