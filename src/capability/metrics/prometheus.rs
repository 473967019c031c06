//! Metrics in the text format that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Kind, Metric, Number};

/// Writes metrics as families. Names that Prometheus does not take are spelled
/// differently there; the label keeps the name as hooks know it, so that two names
/// that become one still are two series.
pub(super) fn text(metrics: &BTreeMap<String, Metric>) -> String {
    let labelled = |(name, metric): (&String, &Metric)| {
        let label = format!("name=\"{}\"", escaped(name));
        (name.clone(), label, *metric)
    };
    families(metrics.iter().map(labelled))
}

/// Writes the metrics of several projects, each series with the name of its own.
pub(crate) fn of_projects(projects: &[(String, BTreeMap<String, Metric>)]) -> String {
    let all = projects.iter().flat_map(|(project, metrics)| {
        metrics.iter().map(move |(name, metric)| {
            let (own, project) = (escaped(name), escaped(project));
            let label = format!("name=\"{own}\",project=\"{project}\"");
            (name.clone(), label, *metric)
        })
    });
    families(all)
}

/// Writes series, given as name, labels and value.
fn families(all: impl Iterator<Item = (String, String, Metric)>) -> String {
    let mut families: BTreeMap<String, Vec<(String, Metric)>> = BTreeMap::new();
    for (name, labels, metric) in all {
        let family = families.entry(family(&name, metric.kind)).or_default();
        family.push((labels, metric));
    }
    let mut text = String::new();
    for (family, series) in &families {
        let kind = match series.first().map(|(_, metric)| metric.kind) {
            Some(Kind::Counter) => "counter",
            _ => "gauge",
        };
        let _ = writeln!(
            text,
            "# HELP {family} A metric of hooks.\n# TYPE {family} {kind}"
        );
        for (labels, metric) in series {
            let value = match metric.value {
                Number::Integer(value) => value.to_string(),
                Number::Real(value) if value.is_nan() => "NaN".to_owned(),
                Number::Real(value) if value.is_infinite() => {
                    if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
                }
                Number::Real(value) => value.to_string(),
            };
            let _ = writeln!(text, "{family}{{{labels}}} {value}");
        }
    }
    text
}

fn family(name: &str, kind: Kind) -> String {
    let spelled: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    match kind {
        Kind::Counter => format!("hookbox_{}_total", spelled.trim_end_matches("_total")),
        Kind::Gauge => format!("hookbox_{spelled}"),
    }
}

/// Writes a text as the value of a label.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;

    #[test]
    fn families_have_one_type_and_every_name_a_series() {
        let metrics = Metrics::default();
        for name in ["audit.deny", "audit_deny", "requests_total", "x\"\n\\é"] {
            metrics.incr(name, 2).unwrap();
        }
        metrics.set("load", Number::Real(0.5)).unwrap();
        metrics.set("nan", Number::Real(f64::NAN)).unwrap();
        metrics.incr("level", 3).unwrap();
        metrics.incr("level", -1).unwrap();
        insta::assert_snapshot!(metrics.to_prometheus());
    }
}
