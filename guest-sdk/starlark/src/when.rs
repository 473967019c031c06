//! `when` expressions: one expression, no capability in scope.
//!
//! The text is parsed as the argument of `bool(…)`. That gives the truth value
//! for free, lets an expression span lines, and makes a text that closes the
//! parenthesis itself stand out: the call is then no longer the whole text. The
//! call is what a function returns, so that it is compiled before there is an event.

use std::cell::RefCell;

use starlark::codemap::ResolvedSpan;
use starlark::environment::{FrozenModule, Globals, Module};
use starlark::eval::Evaluator;
use starlark::syntax::AstModule;
use starlark::syntax::ast::{ArgumentP, AstExpr, AstStmt, ExprP, StmtP};
use starlark::values::FrozenHeapName;

use crate::bindings::exports::hookbox::starlark::interpreter::{Place, Problem, Span};
use crate::bindings::hookbox::hook::types::Event;
use crate::phase::{Phase, within};
use crate::script::DIALECT;
use crate::{builtins, json_in, problem};

const OPENING: &str = "def when(event, payload): return bool(";
const CLOSING: &str = "\n)";

/// The name of the function around the expression.
const FUNCTION: &str = "when";

/// Where the call in that function begins.
const CALL: usize = OPENING.len() - "bool(".len();

thread_local! {
    static GLOBALS: Globals = builtins::for_conditions();
    static LOADED: RefCell<Option<Condition>> = const { RefCell::new(None) };
}

/// An expression that is ready to be evaluated.
struct Condition {
    text: String,
    module: FrozenModule,
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
    let ExprP::Call(function, arguments) = &returned(ast.statement())?.node else {
        return None;
    };
    let ExprP::Identifier(name) = &function.node else {
        return None;
    };
    match arguments.args.as_slice() {
        // A second call of the same name further right would start elsewhere.
        [argument] if name.ident == "bool" && name.span.begin().get() as usize == CALL => {
            match &argument.node {
                ArgumentP::Positional(expression) => Some(expression),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns what the function returns, if it is all there is and does nothing else.
fn returned(module: &AstStmt) -> Option<&AstExpr> {
    let StmtP::Def(function) = &only(module)?.node else {
        return None;
    };
    match &only(&function.body)?.node {
        StmtP::Return(value) => value.as_ref(),
        _ => None,
    }
}

fn only(statement: &AstStmt) -> Option<&AstStmt> {
    match &statement.node {
        StmtP::Statements(statements) => match statements.as_slice() {
            [one] => only(one),
            _ => None,
        },
        _ => Some(statement),
    }
}

/// Parses an expression and keeps it for `matches`.
pub fn load(text: String) -> Result<(), Problem> {
    let ast = parse(&text)?;
    let module = within(Phase::Loading, || {
        Module::with_temp_heap(|module| {
            {
                let mut evaluator = Evaluator::new(&module);
                with_globals(|globals| evaluator.eval_module(ast, globals))?;
            }
            Ok(module.freeze_named(FrozenHeapName::User(Box::new(FUNCTION)))?)
        })
    })
    .map_err(|error| problem::translate(&error, &|at| unwrap(&text, at)))?;
    LOADED.set(Some(Condition { text, module }));
    Ok(())
}

/// Forgets the loaded expression.
pub fn unload() {
    LOADED.set(None);
}

/// Evaluates the loaded expression about an event.
pub fn matches(event: &Event) -> Result<bool, Problem> {
    LOADED.with_borrow(|loaded| match loaded {
        Some(condition) => within(Phase::Loading, || condition.matches(event)),
        None => Err(problem::plain("no expression is loaded")),
    })
}

impl Condition {
    fn matches(&self, event: &Event) -> Result<bool, Problem> {
        let Ok(Some(function)) = self.module.get_option(FUNCTION) else {
            return Err(problem::plain("the expression is gone"));
        };
        Module::with_temp_heap(|module| {
            let heap = module.heap();
            let payload = json_in::parse(&event.payload, heap)
                .map_err(|what| problem::plain(format!("the payload is not JSON: {what}")))?;
            let function = heap.access_owned_frozen_value(&function);
            let name = heap.alloc(event.name.as_str());
            let mut evaluator = Evaluator::new(&module);
            evaluator.disable_gc();
            evaluator
                .eval_function(function, &[name, payload], &[])
                .map(|value| value.to_bool())
                .map_err(|error| self.problem(&error))
        })
    }

    /// Translates an error. The function around the expression is not the author's.
    fn problem(&self, error: &starlark::Error) -> Problem {
        let mut problem = problem::translate(error, &|at| unwrap(&self.text, at));
        if problem
            .stack
            .first()
            .is_some_and(|frame| frame.function == FUNCTION)
        {
            problem.stack.remove(0);
        }
        problem
    }
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
