//! `when` expressions: one expression, no capability in scope.
//!
//! The text is parsed as the argument of `bool(…)`. That gives the truth value
//! for free, lets an expression span lines, and makes a text that closes the
//! parenthesis itself stand out: the call is then no longer the whole text.

use starlark::codemap::ResolvedSpan;
use starlark::environment::{Globals, Module};
use starlark::eval::Evaluator;
use starlark::syntax::AstModule;
use starlark::syntax::ast::{ArgumentP, AstExpr, AstStmt, ExprP, StmtP};

use crate::bindings::exports::hookbox::starlark::interpreter::{Place, Problem, Span};
use crate::bindings::hookbox::hook::types::Event;
use crate::phase::{Phase, within};
use crate::script::DIALECT;
use crate::{builtins, json_in, problem};

const OPENING: &str = "bool(";
const CLOSING: &str = "\n)";

thread_local! {
    static GLOBALS: Globals = builtins::for_conditions();
}

/// Runs `work` with what `when` expressions can see.
pub fn with_globals<T>(work: impl FnOnce(&Globals) -> T) -> T {
    GLOBALS.with(work)
}

/// Parses an expression, wrapped.
pub fn parse(condition: &str) -> Result<AstModule, Problem> {
    if condition.trim().is_empty() {
        return Err(problem::plain("the expression is empty"));
    }
    let wrapped = format!("{OPENING}{condition}{CLOSING}");
    let ast = AstModule::parse("when", wrapped, &DIALECT)
        .map_err(|error| in_its_own_words(condition, &error))?;
    if inner(&ast).is_none() {
        return Err(Problem {
            at: Some(whole(condition)),
            ..problem::plain("a `when` must be one expression")
        });
    }
    Ok(ast)
}

/// Returns the expression inside the wrapping.
pub fn inner(ast: &AstModule) -> Option<&AstExpr> {
    let ExprP::Call(function, arguments) = &only_expression(ast.statement())?.node else {
        return None;
    };
    let ExprP::Identifier(name) = &function.node else {
        return None;
    };
    match arguments.args.as_slice() {
        // A second call of the same name further right would start elsewhere.
        [argument] if name.ident == "bool" && name.span.begin().get() == 0 => {
            match &argument.node {
                ArgumentP::Positional(expression) => Some(expression),
                _ => None,
            }
        }
        _ => None,
    }
}

fn only_expression(statement: &AstStmt) -> Option<&AstExpr> {
    match &statement.node {
        StmtP::Expression(expression) => Some(expression),
        StmtP::Statements(statements) => match statements.as_slice() {
            [one] => only_expression(one),
            _ => None,
        },
        _ => None,
    }
}

/// Evaluates an expression about an event.
pub fn matches(condition: &str, event: &Event) -> Result<bool, Problem> {
    let ast = parse(condition)?;
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let payload = json_in::parse(&event.payload, heap)
            .map_err(|what| problem::plain(format!("the payload is not JSON: {what}")))?;
        module.set("payload", payload);
        module.set("event", heap.alloc(event.name.as_str()));
        let mut evaluator = Evaluator::new(&module);
        evaluator.disable_gc();
        within(Phase::Loading, || {
            with_globals(|globals| evaluator.eval_module(ast, globals))
        })
        .map(|value| value.to_bool())
        .map_err(|error| problem::translate(&error, &|at| unwrap(condition, at)))
    })
}

/// Translates a syntax error. The author did not write the closing parenthesis,
/// so it must not be what is in the way.
fn in_its_own_words(condition: &str, error: &starlark::Error) -> Problem {
    let problem = problem::translate(error, &|at| unwrap(condition, at));
    let (_, end) = shape(condition);
    let at_the_end = problem
        .at
        .as_ref()
        .is_some_and(|at| (at.begin.line, at.begin.column) == (end.line, end.column));
    if at_the_end {
        return Problem {
            message: "Parse error: the expression ends too early".to_owned(),
            ..problem
        };
    }
    problem
}

fn whole(condition: &str) -> Span {
    let (begin, end) = shape(condition);
    Span { begin, end }
}

/// The first and the last place of a text.
fn shape(condition: &str) -> (Place, Place) {
    let lines = condition.lines().count().max(1);
    let last = condition.lines().last().unwrap_or_default().chars().count();
    let end = Place {
        line: lines as u32 - 1,
        column: last as u32,
    };
    (Place { line: 0, column: 0 }, end)
}

/// Moves a span of the wrapped text to the text as given. What lies in the
/// closing part is moved to the end.
pub fn unwrap(condition: &str, at: ResolvedSpan) -> Span {
    let (_, end) = shape(condition);
    let place = |position: Place| {
        if position.line > end.line {
            return end;
        }
        let shift = if position.line == 0 {
            OPENING.len() as u32
        } else {
            0
        };
        Place {
            line: position.line,
            column: position.column.saturating_sub(shift),
        }
    };
    let Span { begin, end } = problem::span(at);
    Span {
        begin: place(begin),
        end: place(end),
    }
}
