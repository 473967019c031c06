//! What can be said about a text without running it.

use starlark::codemap::ResolvedSpan;
use starlark::environment::Globals;
use starlark::syntax::AstModule;
use starlark::syntax::ast::{AssignTargetP, AstNoPayload, AstStmt, DefP, ExprP, ParameterP, StmtP};
use starlark::values::{FrozenValue, Heap};

use crate::bindings::exports::hookbox::starlark::interpreter::{
    Entry, Problem, Report, ScriptReport, Span, UseOfBuiltin,
};
use crate::builtins::{CAPABILITIES, SCRIPT_ONLY};
use crate::scope::{self, Known, Unknown};
use crate::script::{DIALECT, FILE_NAME};
use crate::{problem, script, when};

/// Checks a script.
pub fn script(text: String) -> ScriptReport {
    let ast = match AstModule::parse(FILE_NAME, text, &DIALECT) {
        Ok(ast) => ast,
        Err(error) => {
            return ScriptReport {
                findings: broken(problem::of_script(&error)),
                entry: Entry::Missing,
                uses: Vec::new(),
            };
        }
    };
    let known = script::with_globals(known);
    let place = |span| problem::span(ast.file_span(span).resolve_span());
    let names = scope::in_module(ast.statement(), &known);
    let mut warnings: Vec<Problem> = names
        .unknown
        .iter()
        .map(|unknown| finding(place(unknown.span), in_script(unknown)))
        .collect();
    let uses = names
        .used
        .into_iter()
        .filter(|(name, _)| CAPABILITIES.contains(&name.as_str()))
        .map(|(name, span)| UseOfBuiltin {
            name,
            at: place(span),
        })
        .collect();
    let handle = entry_point(ast.statement());
    if let Some(handle) = handle
        && !always_returns(&handle.body)
    {
        warnings.push(finding(
            place(handle.name.span),
            "handle can end without a decision: end every branch in allow(), block(reason) or \
             modify(payload)"
                .to_owned(),
        ));
    }
    let entry = match handle {
        Some(handle) if takes_two(handle) => Entry::Present,
        Some(_) => Entry::WrongShape,
        // What is assigned cannot be told without running the script.
        None if assigns_handle(ast.statement()) => Entry::Present,
        None => Entry::Missing,
    };
    ScriptReport {
        findings: Report {
            errors: Vec::new(),
            warnings,
        },
        entry,
        uses,
    }
}

/// Checks a `when` expression.
pub fn condition(text: &str) -> Report {
    let ast = match when::parse(text) {
        Ok(ast) => ast,
        Err(problem) => return broken(problem),
    };
    let mut known = when::with_globals(known);
    known.names.insert("event".to_owned());
    known.names.insert("payload".to_owned());
    known
        .members
        .insert("payload".to_owned(), payload_members());
    let place = |span| -> Span {
        let resolved: ResolvedSpan = ast.file_span(span).resolve_span();
        when::unwrap(text, resolved)
    };
    let unknown = when::inner(&ast)
        .map(|expression| scope::in_expression(expression, &known).unknown)
        .unwrap_or_default();
    let warnings = unknown
        .into_iter()
        .map(|unknown| finding(place(unknown.span), in_condition(&unknown)))
        .collect();
    Report {
        errors: Vec::new(),
        warnings,
    }
}

fn known(globals: &Globals) -> Known {
    let mut known = Known::default();
    for (name, value) in globals.iter() {
        known.names.insert(name.to_owned());
        let value = value.to_value();
        if matches!(value.get_type(), "namespace" | "log") {
            known.members.insert(name.to_owned(), value.dir_attr());
        }
    }
    known
}

/// A payload is a dict, a list or a string; their methods are all one can
/// look up on it with a dot.
fn payload_members() -> Vec<String> {
    let empty = [FrozenValue::new_empty_dict(), FrozenValue::new_empty_list()];
    let mut members: Vec<_> = empty
        .iter()
        .flat_map(|value| value.to_value().dir_attr())
        .collect();
    members.extend(Heap::temp(|heap| heap.alloc("").dir_attr()));
    members
}

fn broken(problem: Problem) -> Report {
    Report {
        errors: vec![problem],
        warnings: Vec::new(),
    }
}

fn finding(at: Span, message: String) -> Problem {
    Problem {
        message,
        at: Some(at),
        stack: Vec::new(),
    }
}

fn in_script(unknown: &Unknown) -> String {
    if unknown.group.is_some() {
        return not_defined(unknown);
    }
    let hint = match unknown.name.as_str() {
        "isinstance" => "use type(v) == \"string\"".to_owned(),
        "print" => "use log(msg)".to_owned(),
        "exec" | "fs" | "os" | "open" => "hooks do not reach the system".to_owned(),
        "time" | "random" | "uuid" => "hooks give the same answer every time".to_owned(),
        _ => return not_defined(unknown),
    };
    format!("{} is not available: {hint}", unknown.name)
}

fn in_condition(unknown: &Unknown) -> String {
    if unknown.group.as_deref() == Some("payload") {
        let name = &unknown.name;
        return format!("payload has no attribute {name}: write payload[\"{name}\"]");
    }
    if SCRIPT_ONLY.contains(&unknown.name.as_str()) {
        return format!(
            "{} is not available in a `when`: use it inside handle",
            unknown.name
        );
    }
    in_script(unknown)
}

fn not_defined(unknown: &Unknown) -> String {
    let prefix = unknown
        .group
        .as_ref()
        .map_or(String::new(), |group| format!("{group}."));
    let name = &unknown.name;
    match &unknown.similar {
        Some(similar) => format!("{prefix}{name} is not defined; did you mean {prefix}{similar}?"),
        None => format!("{prefix}{name} is not defined"),
    }
}

/// The last definition counts, as it does when the script runs.
fn entry_point(module: &AstStmt) -> Option<&DefP<AstNoPayload>> {
    match &module.node {
        StmtP::Def(function) if function.name.ident == "handle" => Some(function),
        StmtP::Statements(statements) => statements.iter().rev().find_map(entry_point),
        _ => None,
    }
}

fn assigns_handle(module: &AstStmt) -> bool {
    match &module.node {
        StmtP::Assign(assignment) => matches!(
            &assignment.lhs.node,
            AssignTargetP::Identifier(name) if name.ident == "handle"
        ),
        StmtP::Statements(statements) => statements.iter().any(assigns_handle),
        _ => false,
    }
}

fn takes_two(function: &DefP<AstNoPayload>) -> bool {
    let (mut required, mut accepted, mut keyword_only) = (0, 0, false);
    for parameter in &function.params {
        match &parameter.node {
            ParameterP::Normal(_, _, default) if keyword_only => {
                if default.is_none() {
                    return false;
                }
            }
            ParameterP::Normal(_, _, default) => {
                accepted += 1;
                required += usize::from(default.is_none());
            }
            ParameterP::NoArgs => keyword_only = true,
            ParameterP::Args(_, _) => {
                keyword_only = true;
                accepted = usize::MAX;
            }
            ParameterP::Slash | ParameterP::KwArgs(_, _) => {}
        }
    }
    required <= 2 && accepted >= 2
}

/// Whether every way through the block ends in a `return` with a value or in
/// `fail`.
fn always_returns(block: &AstStmt) -> bool {
    match &block.node {
        StmtP::Return(value) => value.is_some(),
        StmtP::Expression(expression) => match &expression.node {
            ExprP::Call(function, _) => {
                matches!(&function.node, ExprP::Identifier(name) if name.ident == "fail")
            }
            _ => false,
        },
        StmtP::Statements(statements) => statements.iter().any(always_returns),
        StmtP::IfElse(_, bodies) => always_returns(&bodies.0) && always_returns(&bodies.1),
        _ => false,
    }
}
