//! Keeps `wit/` and `src/bindings.rs` what the contract says. The bindings are checked
//! in so that a hook compiles without a code generator; `UPDATE=1 cargo test` writes
//! both anew.

use std::path::Path;

use wit_bindgen_core::{Files, WorldGenerator as _, wit_parser::Resolve};
use wit_bindgen_rust::Opts;

#[test]
fn the_bindings_belong_to_the_contract() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The crate has a copy of the contract, because projects get one of the crate.
    let contract = std::fs::read_to_string(here.join("../../wit/hook.wit")).unwrap();
    is_stored(&here.join("wit/hook.wit"), &contract);

    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(here.join("wit")).unwrap();
    let world = resolve.select_world(&[package], Some("hook")).unwrap();
    let options = Opts {
        format: true,
        runtime_path: Some("crate::rt".into()),
        pub_export_macro: true,
        export_macro_name: Some("export_handler".into()),
        disable_custom_section_link_helpers: true,
        ..Opts::default()
    };
    let mut files = Files::default();
    options
        .build()
        .generate(&mut resolve, world, &mut files)
        .unwrap();
    let (_, generated) = files.iter().next().unwrap();
    let generated = std::str::from_utf8(generated).unwrap();
    is_stored(&here.join("src/bindings.rs"), generated);
}

fn is_stored(path: &Path, text: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, text).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == text,
        "{} is out of date; run `UPDATE=1 cargo test --test bindings`",
        path.display()
    );
}
