//! Instances of the interpreter that have loaded a text already, for the texts that are
//! used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sandbox::bindings::starlark::Starlark;
use crate::sandbox::image::Image;
use crate::sandbox::instance::Spare;
use crate::sandbox::limits::Limits;

/// How many texts have some. Each instance takes a place in the pool and up to a megabyte.
const MOST: usize = 16;

/// How many each text has: agents ask for several tools at once.
const EACH: usize = 4;

/// How long a text keeps its place when another wants it. Texts that take turns sooner would
/// each find that it was theirs a moment ago.
const IDLE: Duration = Duration::from_secs(60);

/// The instances.
#[derive(Default)]
pub(super) struct Loaded(Vec<Entry>);

struct Entry {
    image: Arc<Image>,
    ready: Vec<Spare<Starlark>>,
    /// Whether there are none to be had; whoever loads the text says why.
    never: bool,
    used: Instant,
}

impl Entry {
    fn wants(&self) -> bool {
        !self.never && self.ready.len() < EACH
    }
}

impl Loaded {
    /// Takes one that has loaded what left this image, if a call with these limits could
    /// have loaded it. From now on there will be some, if there is room.
    pub(super) fn take(
        &mut self,
        image: &Arc<Image>,
        limits: &Limits,
        now: Instant,
    ) -> Option<Spare<Starlark>> {
        if let Some(entry) = self.of(image) {
            entry.used = now;
            // They are all alike.
            let fits = entry.ready.last()?.fits(limits);
            return fits.then(|| entry.ready.pop()).flatten();
        }
        if self.0.len() < MOST {
            self.0.push(Entry {
                image: Arc::clone(image),
                ready: Vec::new(),
                never: false,
                used: now,
            });
        }
        None
    }

    /// Returns the image of a text that has too few.
    pub(super) fn missing(&self) -> Option<Arc<Image>> {
        let fewest = self.0.iter().filter(|entry| entry.wants());
        let entry = fewest.min_by_key(|entry| entry.ready.len())?;
        Some(Arc::clone(&entry.image))
    }

    /// Takes one that was made; nothing if none can be.
    pub(super) fn put(&mut self, image: &Arc<Image>, made: Option<Spare<Starlark>>) {
        if let Some(entry) = self.of(image) {
            entry.never = made.is_none();
            entry.ready.extend(made);
        }
    }

    /// Makes room where there is none, if some text was not used for long. Returns what it
    /// had.
    pub(super) fn retire(&mut self, now: Instant) -> Vec<Spare<Starlark>> {
        let all = self.0.iter().enumerate();
        let oldest = all.min_by_key(|(_, entry)| entry.used);
        match oldest {
            Some((at, entry)) if self.0.len() == MOST && now > entry.used + IDLE => {
                self.0.swap_remove(at).ready
            }
            _ => Vec::new(),
        }
    }

    /// Says whether there is one that has loaded what left this image.
    #[cfg(test)]
    pub(super) fn has(&self, image: &Arc<Image>) -> bool {
        let same = |entry: &&Entry| Arc::ptr_eq(&entry.image, image);
        let entry = self.0.iter().find(same);
        entry.is_some_and(|entry| !entry.ready.is_empty())
    }

    fn of(&mut self, image: &Arc<Image>) -> Option<&mut Entry> {
        let same = |entry: &&mut Entry| Arc::ptr_eq(&entry.image, image);
        self.0.iter_mut().find(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(fuel: u64) -> Arc<Image> {
        Arc::new(Image::made_up(1, fuel, Vec::new()))
    }

    fn wanted(loaded: &mut Loaded) -> Vec<Arc<Image>> {
        let mut all = Vec::new();
        while let Some(image) = loaded.missing() {
            // Whatever cannot be made is not asked for again.
            loaded.put(&image, None);
            all.push(image);
        }
        all
    }

    #[test]
    fn a_text_that_was_used_gets_some_and_one_that_cannot_have_any_is_not_tried_again() {
        let (mut loaded, now) = (Loaded::default(), Instant::now());
        let (one, two) = (image(1), image(2));
        assert!(loaded.missing().is_none());
        for image in [&one, &two, &one] {
            assert!(loaded.take(image, &Limits::default(), now).is_none());
        }
        let all = wanted(&mut loaded);
        assert_eq!(all.len(), 2);
        assert!(Arc::ptr_eq(&all[0], &one) && Arc::ptr_eq(&all[1], &two));
        assert!(loaded.take(&one, &Limits::default(), now).is_none());
        assert!(loaded.missing().is_none());
    }

    #[test]
    fn texts_that_take_turns_do_not_push_each_other_out_and_old_ones_make_room() {
        let (mut loaded, start) = (Loaded::default(), Instant::now());
        let images: Vec<_> = (0..=MOST as u64).map(image).collect();
        for (at, image) in images.iter().enumerate() {
            let now = start + Duration::from_secs(at as u64);
            assert!(loaded.take(image, &Limits::default(), now).is_none());
            assert!(loaded.retire(now).is_empty());
        }
        assert_eq!(loaded.0.len(), MOST);
        let last = images.last().unwrap();
        assert!(loaded.of(last).is_none());
        let later = start + IDLE + Duration::from_millis(1);
        loaded.retire(later);
        assert!(loaded.of(&images[0]).is_none());
        assert!(loaded.of(&images[1]).is_some());
        loaded.take(last, &Limits::default(), later);
        assert!(loaded.of(last).is_some());
    }
}
