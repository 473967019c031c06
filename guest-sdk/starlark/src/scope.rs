//! Finds names that a text uses and nobody defines, and those it uses of what
//! exists before it.

use std::collections::{BTreeMap, HashMap, HashSet};

use starlark::codemap::Span;
use starlark::syntax::ast::{
    AssignTargetP, AstAssignTarget, AstExpr, AstNoPayload, AstParameterP, AstStmt, ClauseP, ExprP,
    ForClauseP, StmtP,
};

/// What exists before the text defines anything.
#[derive(Default)]
pub struct Known {
    pub names: HashSet<String>,
    /// The members of those names that are groups of built-ins.
    pub members: HashMap<String, Vec<String>>,
}

/// A use of a name that is not in scope.
pub struct Unknown {
    pub name: String,
    /// The group of built-ins that lacks it.
    pub group: Option<String>,
    pub span: Span,
    /// The name in scope that was probably meant.
    pub similar: Option<String>,
}

/// The names a text uses that are not its own.
#[derive(Default)]
pub struct Names {
    pub unknown: Vec<Unknown>,
    /// Known names, each with the first place that uses it.
    pub used: BTreeMap<String, Span>,
}

/// Looks at the names in a module.
pub fn in_module(module: &AstStmt, known: &Known) -> Names {
    let mut walk = Walk::new(known);
    walk.scopes.push(assigned(module));
    walk.statement(module);
    walk.names
}

/// Looks at the names in an expression.
pub fn in_expression(expression: &AstExpr, known: &Known) -> Names {
    let mut walk = Walk::new(known);
    walk.expression(expression);
    walk.names
}

type Bound<'a> = HashSet<&'a str>;
type Parameters = [AstParameterP<AstNoPayload>];

/// The names that a block binds: a name assigned anywhere in a function is
/// local in all of it.
fn assigned(block: &AstStmt) -> Bound<'_> {
    fn collect<'a>(statement: &'a AstStmt, names: &mut Bound<'a>) {
        match &statement.node {
            StmtP::Assign(assignment) => bind(&assignment.lhs, names),
            StmtP::AssignModify(target, _, _) => bind(target, names),
            StmtP::For(each) => {
                bind(&each.var, names);
                collect(&each.body, names);
            }
            StmtP::Def(function) => {
                names.insert(&function.name.ident);
            }
            StmtP::Statements(statements) => {
                statements
                    .iter()
                    .for_each(|statement| collect(statement, names));
            }
            StmtP::If(_, body) => collect(body, names),
            StmtP::IfElse(_, bodies) => {
                collect(&bodies.0, names);
                collect(&bodies.1, names);
            }
            _ => {}
        }
    }
    let mut names = Bound::new();
    collect(block, &mut names);
    names
}

fn bind<'a>(target: &'a AstAssignTarget, names: &mut Bound<'a>) {
    match &target.node {
        AssignTargetP::Identifier(name) => {
            names.insert(&name.ident);
        }
        AssignTargetP::Tuple(targets) => targets.iter().for_each(|target| bind(target, names)),
        AssignTargetP::Index(_) | AssignTargetP::Dot(_, _) => {}
    }
}

struct Walk<'a> {
    known: &'a Known,
    scopes: Vec<Bound<'a>>,
    names: Names,
}

impl<'a> Walk<'a> {
    fn new(known: &'a Known) -> Self {
        Self {
            known,
            scopes: Vec::new(),
            names: Names::default(),
        }
    }

    fn statement(&mut self, statement: &'a AstStmt) {
        match &statement.node {
            StmtP::Def(function) => {
                self.defaults(&function.params);
                let mut names = assigned(&function.body);
                names.extend(parameter_names(&function.params));
                self.scopes.push(names);
                self.statement(&function.body);
                self.scopes.pop();
            }
            StmtP::Assign(assignment) => {
                self.target(&assignment.lhs);
                self.expression(&assignment.rhs);
            }
            StmtP::AssignModify(target, _, value) => {
                self.target(target);
                self.expression(value);
            }
            StmtP::For(each) => {
                self.target(&each.var);
                self.expression(&each.over);
                self.statement(&each.body);
            }
            StmtP::Statements(statements) => {
                statements
                    .iter()
                    .for_each(|statement| self.statement(statement));
            }
            StmtP::If(condition, body) => {
                self.expression(condition);
                self.statement(body);
            }
            StmtP::IfElse(condition, bodies) => {
                self.expression(condition);
                self.statement(&bodies.0);
                self.statement(&bodies.1);
            }
            StmtP::Return(Some(value)) | StmtP::Expression(value) => self.expression(value),
            StmtP::Return(None) | StmtP::Break | StmtP::Continue | StmtP::Pass | StmtP::Load(_) => {
            }
        }
    }

    fn target(&mut self, target: &'a AstAssignTarget) {
        match &target.node {
            AssignTargetP::Identifier(_) => {}
            AssignTargetP::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
            AssignTargetP::Dot(object, _) => self.expression(object),
            AssignTargetP::Index(parts) => {
                self.expression(&parts.0);
                self.expression(&parts.1);
            }
        }
    }

    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            parameter
                .node
                .visit_expr(|default| self.expression(default));
        }
    }

    fn expression(&mut self, expression: &'a AstExpr) {
        match &expression.node {
            ExprP::Identifier(name) => self.name(&name.ident, name.span),
            ExprP::Lambda(lambda) => {
                self.defaults(&lambda.params);
                self.scopes.push(parameter_names(&lambda.params).collect());
                self.expression(&lambda.body);
                self.scopes.pop();
            }
            ExprP::ListComprehension(item, first, rest) => {
                self.comprehension(first, rest, &[item]);
            }
            ExprP::DictComprehension(item, first, rest) => {
                self.comprehension(first, rest, &[&item.0, &item.1]);
            }
            ExprP::Dot(object, member) => {
                self.expression(object);
                if let ExprP::Identifier(name) = &object.node {
                    self.member(&name.ident, &member.node, member.span);
                }
            }
            other => other.visit_expr(|child| self.expression(child)),
        }
    }

    fn comprehension(
        &mut self,
        first: &'a ForClauseP<AstNoPayload>,
        rest: &'a [ClauseP<AstNoPayload>],
        items: &[&'a AstExpr],
    ) {
        // Only the first source is looked up outside the comprehension.
        self.expression(&first.over);
        let mut names = Bound::new();
        bind(&first.var, &mut names);
        for clause in rest {
            if let ClauseP::For(each) = clause {
                bind(&each.var, &mut names);
            }
        }
        self.scopes.push(names);
        for clause in rest {
            match clause {
                ClauseP::For(each) => self.expression(&each.over),
                ClauseP::If(condition) => self.expression(condition),
            }
        }
        items.iter().for_each(|item| self.expression(item));
        self.scopes.pop();
    }

    fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().any(|names| names.contains(name))
    }

    fn name(&mut self, name: &str, span: Span) {
        if self.is_local(name) {
            return;
        }
        if self.known.names.contains(name) {
            self.names.used.entry(name.to_owned()).or_insert(span);
            return;
        }
        let known = self.scopes.iter().flatten().copied();
        let known = known.chain(self.known.names.iter().map(String::as_str));
        let similar = similar(name, known);
        self.names.unknown.push(Unknown {
            name: name.to_owned(),
            group: None,
            span,
            similar,
        });
    }

    fn member(&mut self, group: &str, name: &str, span: Span) {
        let Some(members) = self
            .known
            .members
            .get(group)
            .filter(|_| !self.is_local(group))
        else {
            return;
        };
        if members.iter().any(|member| member == name) {
            return;
        }
        let similar = similar(name, members.iter().map(String::as_str));
        let group = Some(group.to_owned());
        self.names.unknown.push(Unknown {
            name: name.to_owned(),
            group,
            span,
            similar,
        });
    }
}

fn parameter_names(parameters: &Parameters) -> impl Iterator<Item = &str> {
    parameters
        .iter()
        .filter_map(|parameter| parameter.node.ident())
        .map(|name| &*name.node.ident)
}

fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // Two edits turn any short name into any other.
    let limit = if name.chars().count() < 4 { 1 } else { 2 };
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// The number of insertions, deletions and replacements between two words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, similar};

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("metric", "metrics"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }

    #[test]
    fn short_names_are_not_similar_to_everything() {
        assert_eq!(similar("xy", ["re", "len"].into_iter()), None);
        assert_eq!(
            similar("metrcs", ["re", "metrics"].into_iter()).as_deref(),
            Some("metrics")
        );
    }
}
