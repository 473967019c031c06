//! Starlark's errors in the words of the contract.

use starlark::codemap::{FileSpan, ResolvedPos, ResolvedSpan};

use crate::bindings::exports::hookbox::starlark::interpreter::{Frame, Place, Problem, Span};

/// Makes the error that a built-in raises.
pub fn raise(message: String) -> starlark::Error {
    starlark::Error::new_native(anyhow::Error::msg(message))
}

/// Makes a problem that has no place.
pub fn plain(message: impl Into<String>) -> Problem {
    Problem {
        message: message.into(),
        at: None,
        stack: Vec::new(),
    }
}

/// Translates an error of a script.
pub fn of_script(error: &starlark::Error) -> Problem {
    translate(error, &span)
}

/// Translates an error, with a say in where its spans lie.
pub fn translate(error: &starlark::Error, place: &dyn Fn(ResolvedSpan) -> Span) -> Problem {
    let resolve = |at: &FileSpan| place(at.resolve_span());
    let frames = error.call_stack().clone().into_frames();
    // Starlark notes where a function was called from; a reader of a trace
    // wants to know where in the function the next call happens.
    let stack = frames
        .iter()
        .enumerate()
        .map(|(index, frame)| {
            let at = match frames.get(index + 1) {
                Some(next) => next.location.as_ref(),
                // A built-in has no place of its own; its error carries the
                // call's.
                None => error
                    .span()
                    .filter(|at| Some(*at) != frame.location.as_ref()),
            };
            Frame {
                function: frame.name.clone(),
                at: at.map(resolve),
            }
        })
        .collect();
    Problem {
        message: format!("{:#}", error.without_diagnostic()),
        at: error.span().map(resolve),
        stack,
    }
}

/// Translates a span.
pub fn span(resolved: ResolvedSpan) -> Span {
    Span {
        begin: place(resolved.begin),
        end: place(resolved.end),
    }
}

fn place(position: ResolvedPos) -> Place {
    Place {
        line: position.line as u32,
        column: position.column as u32,
    }
}
