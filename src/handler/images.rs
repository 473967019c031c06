//! Keeps what loading a text leaves in the interpreter's memory, so that the next fresh
//! instance starts with it instead of parsing the same text again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use sha2::{Digest as _, Sha256};
use wasmtime::Store;

use super::camera::Camera;
use super::starlark::{Problem, Text};
use crate::sandbox::bindings::starlark::Starlark;
use crate::sandbox::compiled::CodeStore;
use crate::sandbox::engine::{Engine, hex};
use crate::sandbox::image::Image;
use crate::sandbox::instance::Call;

/// Where images lie beside the compiled code.
const FOLDER: &str = "images";

/// How much memory a process spends on images: those of about a thousand texts. What comes
/// after them is loaded each time.
const MOST_BYTES: usize = 64 << 20;

/// Loading once more costs a tenth of taking an image, so a process that keeps its images to
/// itself waits whether a text is used again.
const USES_BEFORE: u32 = 2;

/// How many images a process takes for others that come after it: a project of thousands of
/// hooks gets its images by and by, not all while one event waits.
const MOST_FOR_OTHERS: u32 = 32;

/// How many images the folder holds before the older half of them goes.
const MOST_FILES: usize = 1_024;

/// What a text is loaded as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A script.
    Script,
    /// A `when` expression.
    When,
}

impl Kind {
    /// Loads a text into an instance.
    pub(super) async fn load(
        self,
        guest: &Starlark,
        store: &mut Store<Call>,
        code: &str,
    ) -> wasmtime::Result<Result<(), Problem>> {
        let interpreter = guest.hookbox_starlark_interpreter();
        match self {
            Self::Script => interpreter.call_load(store, code).await,
            Self::When => interpreter.call_load_when(store, code).await,
        }
    }
}

/// The place for a text's image.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    uses: AtomicU32,
    /// Nothing if there can be none.
    image: OnceLock<Option<Held>>,
}

#[cfg(test)]
impl Slot {
    /// Returns the image, if there is one.
    pub(super) fn image(&self) -> Option<Arc<Image>> {
        let held = self.image.get()?.as_ref()?;
        Some(Arc::clone(&held.image))
    }
}

/// An image, and the account its bytes are on.
#[derive(Debug)]
struct Held {
    image: Arc<Image>,
    bytes: Arc<AtomicUsize>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.image.size(), Relaxed);
    }
}

/// Where images come from and go to.
pub(super) struct Images {
    /// The digest of the interpreter, which has its own memory, and the fingerprint of the
    /// engine, which has its own price for what loading does.
    made_by: [String; 2],
    store: CodeStore,
    /// Whether other processes come after this one.
    shared: bool,
    camera: OnceLock<Option<Camera>>,
    bytes: Arc<AtomicUsize>,
    taken: AtomicU32,
}

impl Images {
    /// Keeps images for this process.
    pub(super) fn new(engine: &Engine, store: &CodeStore, interpreter: &str) -> Self {
        Self {
            made_by: [interpreter.to_owned(), engine.fingerprint().to_owned()],
            store: store.clone(),
            shared: false,
            camera: OnceLock::new(),
            bytes: Arc::default(),
            taken: AtomicU32::new(0),
        }
    }

    /// Keeps them for processes that come after this one instead.
    pub(super) fn shared(mut self) -> Self {
        self.shared = true;
        self
    }

    /// Finds the image of a text, or takes it if that is worth the time.
    pub(super) fn of(&self, kind: Kind, text: &Text) -> Option<Arc<Image>> {
        let (slot, code) = (&text.loaded, text.code.as_str());
        if let Some(held) = slot.image.get() {
            return held.as_ref().map(|held| Arc::clone(&held.image));
        }
        // What is shared is not held: such a process hardly ever loads a text twice, and
        // memory that is used again costs no page fault.
        if self.shared
            && let Some(bytes) = self.store.read_beside(&self.path(kind, code))
            && let Some(image) = Image::from_bytes(&bytes)
        {
            return (!image.is_none()).then(|| Arc::new(image));
        }
        if !self.wants(slot) {
            return None;
        }
        let camera = self.camera.get_or_init(|| Camera::open(&self.store));
        let image = camera.as_ref()?.take(kind, code).map(Arc::new);
        if self.shared {
            // That there is none is worth knowing as well.
            let none = Image::none();
            self.write(&self.path(kind, code), image.as_deref().unwrap_or(&none));
        } else {
            self.hold(slot, image.as_ref());
        }
        image
    }

    fn wants(&self, slot: &Slot) -> bool {
        if self.shared {
            return self.taken.fetch_add(1, Relaxed) < MOST_FOR_OTHERS;
        }
        slot.uses.fetch_add(1, Relaxed) >= USES_BEFORE && self.bytes.load(Relaxed) < MOST_BYTES
    }

    /// Writes an image down. That it cannot be kept only costs time.
    fn write(&self, path: &Path, image: &Image) {
        let wrote = self
            .store
            .thin_out_beside(Path::new(FOLDER), MOST_FILES)
            .and_then(|()| {
                self.store.write_beside(path, |file| {
                    file.write_all(&image.to_bytes())?;
                    file.sync_all()
                })
            });
        if let Err(error) = wrote {
            tracing::debug!(path = %path.display(), %error, "an image could not be kept");
        }
    }

    fn hold(&self, slot: &Slot, image: Option<&Arc<Image>>) {
        let held = image.map(|image| {
            self.bytes.fetch_add(image.size(), Relaxed);
            Held {
                image: Arc::clone(image),
                bytes: Arc::clone(&self.bytes),
            }
        });
        // What another thread was quicker with is the same; this one goes off the account.
        let _ = slot.image.set(held);
    }

    fn path(&self, kind: Kind, code: &str) -> PathBuf {
        let mut hasher = Sha256::new();
        for part in &self.made_by {
            hasher.update(part);
        }
        hasher.update(match kind {
            Kind::Script => b"script",
            Kind::When => b"when  ",
        });
        hasher.update(code);
        Path::new(FOLDER).join(hex(&hasher.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Workshop;
    use super::super::probe::{SCRIPTS, Seen, border, event, script, seen};
    use super::super::starlark::Script;
    use super::*;
    use crate::diagnostic::Source;
    use crate::sandbox::engine::Lifetime;
    use crate::sandbox::limits::Limits;

    /// A workshop whose images nobody else sees.
    fn workshop() -> Workshop {
        let engine = Engine::new(Lifetime::LongLived).unwrap();
        let store = CodeStore::open_default().unwrap();
        Workshop::new(engine, store, Arc::new(|_| {}))
    }

    fn handle(workshop: &Workshop, script: &Script, limits: Limits) -> Seen {
        let interpreter = workshop.interpreter().unwrap();
        seen(interpreter.handle(&workshop.engine, script, event(), border(limits)))
    }

    fn matches(workshop: &Workshop, condition: &Text, limits: Limits) -> Seen {
        let interpreter = workshop.interpreter().unwrap();
        seen(interpreter.matches(&workshop.engine, condition, event(), border(limits)))
    }

    fn has_image(text: &Text) -> bool {
        text.loaded.image().is_some()
    }

    /// Scripts whose loading leaves much, or takes much: too much for an image, the first three.
    const LARGE: [&str; 6] = [
        "def f():\n    n = 0\n    for i in range(4000000):\n        n += i\n    return n\nX = f()\ndef handle(event, payload):\n    return block(str(X))",
        "X = ['x' * 1000 + str(i) for i in range(20000)]\ndef handle(event, payload):\n    return block(str(len(X)))",
        "X = 'x' * 3000000\ndef handle(event, payload):\n    return block(str(len(X)))",
        "X = [str(i) for i in range(2000)]\ndef handle(event, payload):\n    return block(X[1999])",
        "def f(n):\n    return n if n < 2 else f(n - 1)\nX = f(40)\ndef handle(event, payload):\n    return block(str(X))",
        "X = {'k%d' % i: [i] for i in range(2000)}\ndef handle(event, payload):\n    x = ['y' * 1000 for i in range(3000)]\n    return block(str(len(x) + len(X)))",
    ];

    #[test]
    fn a_call_is_the_same_in_an_instance_that_was_given_an_image() {
        let workshop = workshop();
        for code in SCRIPTS.into_iter().chain(LARGE) {
            let plain = Limits::default();
            let known = script(code);
            let first = handle(&workshop, &known, plain);
            assert!(!has_image(&known.text), "{code}");
            for _ in 0..4 {
                assert_eq!(handle(&workshop, &known, plain), first, "{code}");
            }
            // One makes a long text of constants, which is done when it loads, and one is broken.
            let none = [SCRIPTS[6], SCRIPTS[8]].contains(&code) || LARGE[..3].contains(&code);
            assert_eq!(has_image(&known.text), !none, "{code}");
            let both = |limits: Limits| {
                let wanted = handle(&workshop, &script(code), limits);
                assert_eq!(
                    handle(&workshop, &known, limits),
                    wanted,
                    "{code} {limits:?}"
                );
            };
            let (_, fuel, memory, ..) = first;
            // Up to the last unit, and not one further.
            for fuel in (fuel.into_iter()).flat_map(|all| [all + 1, all, all - 1, all / 2, 1_000]) {
                both(Limits { fuel, ..plain });
            }
            let memory = usize::try_from(memory).unwrap();
            for memory in [memory + (64 << 10), memory, memory - (64 << 10), 1 << 20] {
                both(Limits { memory, ..plain });
            }
        }
        // What cannot be parsed is not tried again.
        let broken = script(SCRIPTS[8]);
        for _ in 0..=USES_BEFORE {
            handle(&workshop, &broken, Limits::default());
        }
        assert!(matches!(broken.text.loaded.image.get(), Some(None)));
    }

    #[test]
    fn a_condition_is_the_same_from_an_image() {
        let workshop = workshop();
        for code in [
            "payload['name'] == 'x'",
            "event == 'tool.post'",
            "any([n > 2 for n in payload['args']['n']])",
            "payload['absent']",
            "len('a b c'.split(' ')) == 3 and [1, 2][1] == 2",
        ] {
            let text = || Text::of_file(&Source::new("probe.md", code));
            let known = text();
            let first = matches(&workshop, &known, Limits::default());
            for _ in 0..4 {
                assert_eq!(
                    matches(&workshop, &known, Limits::default()),
                    first,
                    "{code}"
                );
            }
            assert!(has_image(&known), "{code}");
            let all = first.1.unwrap_or(100_000);
            for fuel in [all + 1, all, all - 1, all / 2] {
                let limits = Limits {
                    fuel,
                    ..Limits::default()
                };
                let wanted = matches(&workshop, &text(), limits);
                assert_eq!(matches(&workshop, &known, limits), wanted, "{code} {fuel}");
            }
        }
    }

    #[test]
    fn nothing_of_a_call_is_in_the_image() {
        let workshop = workshop();
        let code = "seen = []\ndef handle(event, payload):\n    return block(str(len(seen)) + str(len(payload)))";
        let script = script(code);
        let first = handle(&workshop, &script, Limits::default());
        for _ in 0..20 {
            assert_eq!(handle(&workshop, &script, Limits::default()), first);
        }
    }

    #[test]
    fn images_past_the_account_are_not_taken_and_those_let_go_leave_it() {
        let workshop = workshop();
        let images = &workshop.interpreter().unwrap().images;
        let kept = script(SCRIPTS[0]);
        for _ in 0..=USES_BEFORE {
            handle(&workshop, &kept, Limits::default());
        }
        let one = images.bytes.load(Relaxed);
        assert!(has_image(&kept.text) && one > 1_000, "{one}");
        images.bytes.fetch_add(MOST_BYTES, Relaxed);
        let late = script(SCRIPTS[1]);
        for _ in 0..5 {
            handle(&workshop, &late, Limits::default());
        }
        assert!(!has_image(&late.text));
        drop(kept);
        assert_eq!(images.bytes.load(Relaxed), MOST_BYTES);
    }

    /// A store of its own with the compiled interpreter of the common one in it.
    fn own_store(folder: &Path) -> CodeStore {
        let common = crate::sandbox::compiled::cache_directory().unwrap();
        workshop().interpreter().unwrap();
        let store = CodeStore::open(folder).unwrap();
        for entry in fs::read_dir(common.join("compiled")).unwrap() {
            let file = entry.unwrap().path();
            if file
                .to_string_lossy()
                .contains(super::super::starlark::DIGEST.trim())
            {
                fs::copy(
                    &file,
                    folder.join("compiled").join(file.file_name().unwrap()),
                )
                .unwrap();
            }
        }
        store
    }

    fn images(store: &CodeStore) -> Images {
        let engine = Engine::new(Lifetime::OneShot).unwrap();
        Images::new(&engine, store, super::super::starlark::DIGEST)
    }

    fn one_shot(store: &CodeStore) -> Workshop {
        let engine = Engine::new(Lifetime::OneShot).unwrap();
        Workshop::new(engine, store.clone(), Arc::new(|_| {})).with_shared_images()
    }

    #[test]
    fn the_next_process_starts_with_the_images_of_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = own_store(folder.path());
        let first = handle(&one_shot(&store), &script(SCRIPTS[3]), Limits::default());
        let files = || -> Vec<PathBuf> {
            let entries = fs::read_dir(folder.path().join(FOLDER)).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        let [file] = &files()[..] else {
            panic!("{:?}", files());
        };
        let whole = fs::read(file).unwrap();
        let next = || handle(&one_shot(&store), &script(SCRIPTS[3]), Limits::default());
        let written = fs::metadata(file).unwrap().modified().unwrap();
        assert_eq!(next(), first);
        let again = fs::metadata(file).unwrap().modified().unwrap();
        assert_eq!(written, again, "it is taken once");
        // It is the image that answers, not the text.
        let images = images(&store);
        let another = folder.path().join(images.path(Kind::Script, SCRIPTS[1]));
        fs::copy(file, &another).unwrap();
        let swapped = handle(&one_shot(&store), &script(SCRIPTS[1]), Limits::default());
        assert_eq!(swapped, first);
        fs::remove_file(another).unwrap();
        // What is not the whole image is taken anew.
        for damaged in [&whole[..whole.len() - 1], &whole[..20], b"", &[0; 4096]] {
            fs::write(file, damaged).unwrap();
            assert_eq!(next(), first);
            assert_eq!(fs::read(file).unwrap(), whole);
        }
    }

    #[test]
    fn that_there_is_no_image_is_found_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = own_store(folder.path());
        for code in [LARGE[0], SCRIPTS[8]] {
            let first = handle(&one_shot(&store), &script(code), Limits::default());
            let file = folder.path().join(images(&store).path(Kind::Script, code));
            let known = Image::from_bytes(&fs::read(&file).unwrap()).unwrap();
            assert!(known.is_none(), "{code}");
            let written = fs::metadata(&file).unwrap().modified().unwrap();
            let next = handle(&one_shot(&store), &script(code), Limits::default());
            assert_eq!(next, first, "{code}");
            assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);
        }
    }

    #[test]
    fn an_image_that_lies_never_lets_a_call_pass() {
        let folder = tempfile::tempdir().unwrap();
        let store = own_store(folder.path());
        let code = SCRIPTS[1];
        let blocked = handle(&one_shot(&store), &script(code), Limits::default());
        let file = folder.path().join(images(&store).path(Kind::Script, code));
        let block = |length: usize| vec![0xff; length];
        let far = |at: u32| (78, vec![(at, block(64))]);
        let lies = [
            far(u32::MAX),
            far(u32::MAX - 63),
            far(78 << 16),
            far((78 << 16) - 1),
            // All that lives from call to call, and nothing of it.
            (78, vec![(1 << 20, block(4 << 20))]),
            (78, Vec::new()),
            // More blocks than there is room to say where they go.
            (78, (0..60_000).map(|at| (at, block(1))).collect()),
            (0, vec![(0, block(1))]),
        ];
        for (pages, blocks) in lies {
            let lie = Image::made_up(pages, 1, blocks);
            fs::write(&file, lie.to_bytes()).unwrap();
            let (answer, ..) = handle(&one_shot(&store), &script(code), Limits::default());
            assert!(!answer.contains("Allow"), "{answer}");
        }
        // What could not have been loaded within the limits is not put at all.
        for (pages, fuel) in [(u32::MAX, 1), (78, u64::MAX)] {
            let lie = Image::made_up(pages, fuel, vec![(1 << 20, block(64))]);
            fs::write(&file, lie.to_bytes()).unwrap();
            let seen = handle(&one_shot(&store), &script(code), Limits::default());
            assert_eq!(seen, blocked);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_image_that_others_could_have_written_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let store = own_store(folder.path());
        let kept = script("def handle(event, payload):\n    return block('no')");
        handle(&one_shot(&store), &kept, Limits::default());
        // The image of a script that lets everything pass, in the place of another's.
        let open = script(SCRIPTS[0]);
        handle(&one_shot(&store), &open, Limits::default());
        let images = images(&store);
        let file = |script: &Script| {
            folder
                .path()
                .join(images.path(Kind::Script, &script.text.code))
        };
        fs::copy(file(&open), file(&kept)).unwrap();
        fs::set_permissions(file(&kept), fs::Permissions::from_mode(0o666)).unwrap();
        let script = script(&kept.text.code);
        let (answer, ..) = handle(&one_shot(&store), &script, Limits::default());
        assert!(answer.contains("Block"), "{answer}");
    }

    #[test]
    fn a_folder_with_many_images_loses_the_older_half() {
        let folder = tempfile::tempdir().unwrap();
        let store = CodeStore::open(folder.path()).unwrap();
        for name in ["a", "b", "c", "d"] {
            let path = Path::new(FOLDER).join(name);
            store
                .write_beside(&path, |file| file.write_all(b"x"))
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let left = |most| -> Vec<String> {
            store.thin_out_beside(Path::new(FOLDER), most).unwrap();
            let entries = fs::read_dir(folder.path().join(FOLDER)).unwrap();
            let mut names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        assert_eq!(left(4), ["a", "b", "c", "d"]);
        assert_eq!(left(3), ["c", "d"]);
    }
}
