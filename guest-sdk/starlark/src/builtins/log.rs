//! `log(msg)` and `log.debug/info/warn/error(msg)`.

use std::fmt;

use allocative::Allocative;
use starlark::environment::{GlobalsBuilder, Methods, MethodsBuilder};
use starlark::eval::{Arguments, Evaluator};
use starlark::starlark_simple_value;
use starlark::values::none::NoneType;
use starlark::values::{
    NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Value, starlark_value,
};

use crate::host::{self, Level};
use crate::phase::require_handling;

/// Scripts both call `log` and look up attributes on it, so it is a value of
/// its own kind.
#[derive(Debug, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
struct Log {}

starlark_simple_value!(Log);

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("log")
    }
}

starlark::methods_static!(LOG_METHODS = methods);

#[starlark_value(type = "log")]
impl<'v> StarlarkValue<'v> for Log {
    fn get_methods() -> Option<&'static Methods> {
        Some(LOG_METHODS.methods())
    }

    fn invoke(
        &self,
        _me: Value<'v>,
        args: &Arguments<'v, '_>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        args.no_named_args()?;
        let message = args.positional1(eval.heap())?;
        write("log", Level::Info, message)?;
        Ok(Value::new_none())
    }
}

#[starlark::starlark_module]
fn methods(builder: &mut MethodsBuilder) {
    fn debug<'v>(#[starlark(this)] _this: Value<'v>, msg: Value<'v>) -> starlark::Result<NoneType> {
        write("log.debug", Level::Debug, msg)
    }

    fn info<'v>(#[starlark(this)] _this: Value<'v>, msg: Value<'v>) -> starlark::Result<NoneType> {
        write("log.info", Level::Info, msg)
    }

    fn warn<'v>(#[starlark(this)] _this: Value<'v>, msg: Value<'v>) -> starlark::Result<NoneType> {
        write("log.warn", Level::Warn, msg)
    }

    fn error<'v>(#[starlark(this)] _this: Value<'v>, msg: Value<'v>) -> starlark::Result<NoneType> {
        write("log.error", Level::Error, msg)
    }
}

fn write(name: &str, level: Level, message: Value<'_>) -> starlark::Result<NoneType> {
    require_handling(name)?;
    match message.unpack_str() {
        Some(message) => host::log(level, message),
        None => host::log(level, &message.to_str()),
    }
    Ok(NoneType)
}

/// Adds `log`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.set("log", Log {});
}
