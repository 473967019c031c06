//! What no hook should do. The optimiser must not see that it is senseless.

use std::hint::black_box;

use hookbox_guest::{Decision, Error, Value, allow};

use crate::text;

/// Runs a mode, if it is one of these.
pub fn run(mode: &str, args: &Value) -> Option<Result<Decision, Error>> {
    Some(match mode {
        "panic" => text(args, "message").map(|message| panic!("{message}")),
        "loop" => loop {
            black_box(mode);
        },
        "memory" => hoard(),
        "recursion" => {
            descend(0);
            Ok(allow())
        }
        _ => return None,
    })
}

fn hoard() -> ! {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 1 << 16]));
    }
}

fn descend(depth: u64) -> u64 {
    let frame = black_box([depth; 8]);
    if depth == u64::MAX {
        return frame[0];
    }
    descend(depth + 1).wrapping_add(frame[7])
}
