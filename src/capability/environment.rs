//! Environment variables, by name.

use super::Border;
use super::grant::Kind;
use crate::sandbox::bindings::environment as wit;
use crate::sandbox::instance::Call;

impl wit::Host for Call {
    fn get(&mut self, name: String) -> wasmtime::Result<Result<Option<String>, wit::Error>> {
        let border = self.enter()?;
        if border.grants().env.contains(&name) {
            return Ok(Ok(border.variable(&name)));
        }
        let why = border.refuse(Kind::Env, &format!("the variable {name:?}"));
        Ok(Err(wit::Error::NotGranted(why)))
    }
}

impl Border {
    /// Returns the granted variables that are set.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.grants()
            .env
            .iter()
            .filter_map(|name| Some((name.clone(), self.variable(name)?)))
            .collect()
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.pass.run.services.environment)(name)
    }
}
