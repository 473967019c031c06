//! What remains of an answer where the process aborts: a stack that is full, memory that is
//! used up. Nothing can be said any more, but how the process ends is heard.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGABRT;
use signal_hook::flag;

/// No to every agent. One that sees a process die of a signal lets the action pass.
const NO: i32 = 2;

/// Lets an abort end the process with a no. Whoever aborts says why on standard error.
pub(super) fn refuses() {
    // Where this cannot be had, an abort is what it was.
    let _ = flag::register_conditional_shutdown(SIGABRT, NO, Arc::new(AtomicBool::new(true)));
}
