//! `metrics`: counters and gauges.

use starlark::environment::GlobalsBuilder;
use starlark::values::dict::AllocDict;
use starlark::values::float::StarlarkFloat;
use starlark::values::none::NoneType;
use starlark::values::{Heap, UnpackValue as _, Value, ValueLike as _};

use crate::host::{self, Number};
use crate::json_out::with_article;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Adds to a counter and returns its new value.
    fn incr<'v>(
        name: &str,
        #[starlark(default = 1)] delta: i64,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("metrics.incr")?;
        Ok(number(host::metrics_incr(name, delta), heap))
    }

    /// Sets a gauge.
    fn set<'v>(name: &str, value: Value<'v>) -> starlark::Result<NoneType> {
        require_handling("metrics.set")?;
        let value = if let Some(real) = value.downcast_ref::<StarlarkFloat>() {
            if !real.0.is_finite() {
                return Err(raise(format!(
                    "metrics.set: the value must be finite, not {value}"
                )));
            }
            Number::Real(real.0)
        } else if value.get_type() == "int" {
            match i64::unpack_value(value) {
                Ok(Some(integer)) => Number::Integer(integer),
                _ => return Err(raise("metrics.set: the value is out of range".to_owned())),
            }
        } else {
            return Err(raise(format!(
                "metrics.set: the value must be an int or a float, not {}",
                with_article(value.get_type())
            )));
        };
        host::metrics_set(name, value);
        Ok(NoneType)
    }

    /// Returns one value, or None.
    fn get<'v>(name: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        require_handling("metrics.get")?;
        let value = host::metrics_get(name);
        Ok(value.map_or(Value::new_none(), |value| number(value, heap)))
    }

    /// Returns all values, sorted by name.
    fn snapshot<'v>(heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        require_handling("metrics.snapshot")?;
        let mut values = host::metrics_snapshot();
        values.sort_by(|left, right| left.0.cmp(&right.0));
        let values = values
            .into_iter()
            .map(|(name, value)| (name, number(value, heap)));
        Ok(heap.alloc(AllocDict(values)))
    }
}

fn number<'v>(value: Number, heap: Heap<'v>) -> Value<'v> {
    match value {
        Number::Integer(integer) => heap.alloc(integer),
        Number::Real(real) => heap.alloc(real),
    }
}

/// Adds `metrics`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("metrics", functions);
}
