//! The checked-in interpreter belongs to its sources.

#[path = "../guest-sdk/starlark/builder/src/inputs.rs"]
mod inputs;

use std::path::Path;

use hookbox::sandbox::compiled::Digest;

#[test]
fn the_component_is_not_out_of_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest-sdk/starlark");
    let built_from = std::fs::read_to_string(folder.join("starlark.inputs")).unwrap();
    assert_eq!(
        built_from.trim(),
        inputs::digest(&folder).unwrap(),
        "the checked-in Starlark component is out of date: run guest-sdk/starlark/build"
    );
}

#[test]
fn the_digest_is_that_of_the_component() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guest-sdk/starlark");
    let bytes = std::fs::read(folder.join("starlark.wasm")).unwrap();
    let digest = std::fs::read_to_string(folder.join("starlark.digest")).unwrap();
    assert_eq!(digest.trim(), Digest::of(&bytes).as_str());
}
