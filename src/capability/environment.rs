//! Environment variables, by name.

use serde_json::json;

use super::Border;
use super::grant::Kind;
use crate::failure::Failure;
use crate::sandbox::bindings::environment as wit;
use crate::sandbox::instance::Call;
use crate::tape::scrub::{is_secretive, label};

impl wit::Host for Call {
    fn get(&mut self, name: String) -> wasmtime::Result<Result<Option<String>, wit::Error>> {
        let border = self.enter()?;
        if border.grants().env.contains(&name) {
            return Ok(Ok(border.variable(&name)?));
        }
        let why = border.refuse(Kind::Env, &format!("the variable {name:?}"));
        let request = || json!({"name": name});
        border.reel().refused("environment.get", request, &why);
        Ok(Err(wit::Error::NotGranted(why)))
    }
}

impl Border {
    /// Returns the granted variables that are set.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.grants()
            .env
            .iter()
            // What the tape does not know fails the call when it ends.
            .filter_map(|name| Some((name.clone(), self.variable(name).ok()??)))
            .collect()
    }

    /// Returns variables of the machine that are set, granted or not: for programs that
    /// are not in the sandbox anyway.
    pub(crate) fn inherited(&self, names: &[&str]) -> Vec<(String, String)> {
        let look_up = &self.pass.run.services.environment;
        let value = |name: &&str| Some(((*name).to_owned(), look_up(name)?));
        names.iter().filter_map(value).collect()
    }

    /// Looks a granted variable up. One that holds a secret is only known to the tape by
    /// its digest.
    fn variable(&self, name: &str) -> Result<Option<String>, Failure> {
        let (reel, look_up) = (self.reel(), &self.pass.run.services.environment);
        let request = || json!({"name": name});
        if !reel.runs() || reel.plays() || !is_secretive(name) {
            return reel.cross("environment.get", request, || look_up(name));
        }
        let value = look_up(name);
        let known = value.as_deref().map(|value| label("env", name, value));
        reel.cross("environment.get", request, || known)?;
        Ok(value)
    }
}
