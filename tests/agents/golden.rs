//! Every answer word for word, for whoever reviews what agents are told.

use hookbox::agent::Reply;
use insta::{Settings, assert_snapshot};
use serde_json::Value;

use crate::samples::{self, Sample};
use crate::world::{Does, EVERYTHING, World};

#[test]
fn every_agent_is_told_every_decision_in_these_words() {
    let worlds = EVERYTHING.map(|does| (does, World::new(does)));
    for sample in samples::one_each() {
        let told = worlds.iter().map(|world| told(&sample, world));
        let text = told.collect::<Vec<_>>().join("\n");
        let mut settings = Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_path(format!("golden/{}", sample.agent.name));
        settings.bind(|| assert_snapshot!(sample.event.name, text));
    }
}

fn told(sample: &Sample, (does, world): &(Does, World)) -> String {
    let Reply {
        stdout,
        stderr,
        code,
    } = world.ask(sample);
    let stdout = match serde_json::from_str::<Value>(&stdout) {
        Ok(json) => serde_json::to_string_pretty(&json).unwrap(),
        Err(_) => stdout,
    };
    let text = format!("== {does:?}: exit code {code}\n{stdout}\n-- stderr\n{stderr}\n");
    text.replace(&world.path().display().to_string(), "/project")
}
