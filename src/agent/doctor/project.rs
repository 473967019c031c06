//! The project whose hooks decide.

use std::path::Path;

use super::Finding;
use crate::runtime::RuntimeBuilder;

/// What gives a project its first hook.
pub const FIRST_HOOK: &str = "hookbox new my-guard --lang starlark && mkdir -p .harness/hooks && cp my-guard/my-guard.md .harness/hooks/";

/// Checks that a project loads.
#[must_use]
pub fn project(folder: &Path, builder: RuntimeBuilder) -> Finding {
    let shown = folder.display();
    let loaded = match builder.inspect() {
        Ok(loaded) => loaded,
        Err(error) => {
            let says = format!("{shown}: {error}");
            return Finding::bad("project", says).so("hookbox validate");
        }
    };
    let errors = loaded.problems.iter().filter(|problem| problem.is_error());
    match (errors.count(), loaded.hooks.len()) {
        (0, 0) => Finding::warning("project", format!("{shown}: no hooks, so all is allowed"))
            .so(FIRST_HOOK),
        (0, 1) => Finding::good("project", format!("{shown}: 1 hook")),
        (0, hooks) => Finding::good("project", format!("{shown}: {hooks} hooks")),
        (errors, _) => {
            let s = if errors == 1 { "" } else { "s" };
            let says = format!("{shown}: {errors} error{s}, so all that is guarded is refused");
            Finding::bad("project", says).so("hookbox validate")
        }
    }
}
