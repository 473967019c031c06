//! The scripts that the server runs, each one step for everybody else.

use std::sync::LazyLock;

use ::redis::{Cmd, Value};

use super::super::Namespace;
use super::super::quota::Limit;

/// What all scripts start with: what has expired is gone before they look.
const COMMON: &str = include_str!("scripts/common.lua");

/// Returns a text.
pub(super) static GET: LazyLock<Script> =
    LazyLock::new(|| Script::new("return {'done', redis.call('HGET', values, key)}"));

/// Stores a text.
pub(super) static SET: LazyLock<Script> =
    LazyLock::new(|| Script::new("return put(ARGV[2], ARGV[3], ARGV[4], ARGV[5])"));

/// Removes a text.
pub(super) static DELETE: LazyLock<Script> =
    LazyLock::new(|| Script::new("return {'done', remove(key) and '1'}"));

/// Adds to an integer.
pub(super) static INCREMENT: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/increment.lua")));

/// Stores a text in place of one that is known.
pub(super) static SWAP: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("scripts/swap.lua")));

/// A script and the name that a server knows it by.
pub(super) struct Script {
    code: String,
    hash: String,
}

/// A script with what it works on.
pub(super) struct Call<'a> {
    script: &'a Script,
    keys: [String; 3],
    arguments: &'a [&'a [u8]],
}

/// What a script answered.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    /// It was done, and this was found.
    Done(Option<Vec<u8>>),
    /// There is no room.
    Full(Limit),
    /// The text is no integer, or the sum would not be one of 64 bits.
    NotAnInteger,
    /// This is stored instead of what is known.
    Other(Option<Vec<u8>>),
}

impl Script {
    fn new(body: &str) -> Self {
        let code = format!("{COMMON}\n{body}\n");
        let hash = ::redis::Script::new(&code).get_hash().to_owned();
        Self { code, hash }
    }

    /// Returns a call for a namespace. The braces keep its keys on one node of
    /// a cluster, and what follows them keeps any two namespaces apart.
    pub(super) fn call<'a>(&'a self, namespace: &Namespace, arguments: &'a [&'a [u8]]) -> Call<'a> {
        Call {
            script: self,
            keys: ["values", "expiry", "bytes"]
                .map(|part| format!("hookbox:{{{namespace}}}:{part}")),
            arguments,
        }
    }
}

impl Call<'_> {
    /// Returns the command for a server that knows the script.
    pub(super) fn by_hash(&self) -> Cmd {
        self.command("EVALSHA", &self.script.hash)
    }

    /// Returns the command that makes a server know the script.
    pub(super) fn by_code(&self) -> Cmd {
        self.command("EVAL", &self.script.code)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = ::redis::cmd(name);
        command.arg(script).arg(self.keys.len()).arg(&self.keys);
        command.arg(self.arguments);
        command
    }
}

impl Reply {
    /// Returns the reply of a script, or nothing if it is none.
    pub(super) fn parse(value: Value) -> Option<Self> {
        let Value::Array(mut parts) = value else {
            return None;
        };
        let found = match (parts.len(), parts.pop()?) {
            (2, Value::BulkString(found)) => Some(found),
            (2, Value::Nil) => None,
            _ => return None,
        };
        let Value::BulkString(name) = parts.pop()? else {
            return None;
        };
        match name.as_slice() {
            b"done" => Some(Self::Done(found)),
            b"other" => Some(Self::Other(found)),
            b"bytes" => Some(Self::Full(Limit::Bytes)),
            b"keys" => Some(Self::Full(Limit::Keys)),
            b"integer" => Some(Self::NotAnInteger),
            _ => None,
        }
    }
}
