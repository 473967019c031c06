//! What an instance keeps in its memory between two calls, taken out of one instance and
//! put into another: the second one then has loaded what the first one loaded. It only saves
//! time. The memory, the answers and the fuel are those of an instance that loaded itself.

use std::ops::Range;

use wasmtime::Store;

use super::bindings::starlark::Starlark;
use super::bindings::starlark::hookbox::starlark::images;
use super::instance::Call;
use super::limits::Limits;

/// Bytes in a page of a linear memory.
const PAGE: usize = 64 << 10;

/// Memory is compared in pieces of this size: changes are small and lie close together.
const GRAIN: usize = 64;

/// Unchanged bytes between two changes that are put as well, since asking for room for
/// another block takes longer.
const GAP: usize = 256;

/// How many blocks an image may have. What changed in more places than this is loaded.
const MOST_BLOCKS: usize = 20_000;

/// How many bytes an image may have: ten times those of a long script. What leaves more is
/// loaded, or a few texts could fill the memory and the disk.
const MOST_BYTES: usize = 1 << 20;

/// What the bytes of an image start with; another layout has another name.
const MAGIC: &[u8; 8] = b"hbimage1";

/// What loading changed in a fresh instance.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// How many pages the memory has.
    pages: u32,
    /// The fuel that loading took.
    fuel: u64,
    addresses: Vec<u32>,
    blocks: Vec<Vec<u8>>,
}

impl Image {
    /// Says whether a call with so much fuel and these limits could have loaded this itself.
    #[must_use]
    pub fn fits(&self, fuel: u64, limits: &Limits) -> bool {
        fuel > self.fuel && limits.memory >= self.memory()
    }

    /// Makes what stands for the image of a text that has none.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Says whether it stands for an image that there is not.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::none()
    }

    /// Makes one that no instance showed.
    #[cfg(test)]
    pub(crate) fn made_up(pages: u32, fuel: u64, blocks: Vec<(u32, Vec<u8>)>) -> Self {
        let (addresses, blocks) = blocks.into_iter().unzip();
        Self {
            pages,
            fuel,
            addresses,
            blocks,
        }
    }

    /// Returns how many bytes it holds.
    #[must_use]
    pub fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.len() + 32).sum()
    }

    fn memory(&self) -> usize {
        self.pages as usize * PAGE
    }

    /// Puts it into a fresh instance, which has then used the fuel of loading.
    ///
    /// # Errors
    /// Returns why the instance could not take it.
    pub async fn put(&self, guest: &Starlark, store: &mut Store<Call>) -> wasmtime::Result<()> {
        let fuel = store.get_fuel()?;
        let image = guest.hookbox_starlark_image();
        image.call_begin(&mut *store, self.pages).await?;
        image
            .call_put(&mut *store, &self.addresses, &self.blocks)
            .await?;
        store.set_fuel(fuel.saturating_sub(self.fuel))
    }

    /// Writes it down.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size() + 64);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[0; size_of::<u64>()]);
        bytes.extend_from_slice(&self.fuel.to_le_bytes());
        bytes.extend_from_slice(&self.pages.to_le_bytes());
        for (address, block) in self.addresses.iter().zip(&self.blocks) {
            bytes.extend_from_slice(&address.to_le_bytes());
            // A block is no longer than the memory it comes from.
            bytes.extend_from_slice(&u32::try_from(block.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend_from_slice(block);
        }
        let sum = checksum(&bytes[CHECKED..]).to_le_bytes();
        bytes[MAGIC.len()..CHECKED].copy_from_slice(&sum);
        bytes
    }

    /// Reads what [`Image::to_bytes`] wrote; nothing if it is not that to the last byte.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, mut rest) = rest.split_first_chunk()?;
        if u64::from_le_bytes(*sum) != checksum(rest) {
            return None;
        }
        let fuel = u64::from_le_bytes(*take(&mut rest)?);
        let pages = u32::from_le_bytes(*take(&mut rest)?);
        let (mut addresses, mut blocks) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            addresses.push(u32::from_le_bytes(*take(&mut rest)?));
            let length = u32::from_le_bytes(*take(&mut rest)?);
            let (block, behind) = rest.split_at_checked(length as usize)?;
            blocks.push(block.to_vec());
            rest = behind;
        }
        Some(Self {
            pages,
            fuel,
            addresses,
            blocks,
        })
    }
}

/// Where that begins which the checksum is of.
const CHECKED: usize = MAGIC.len() + size_of::<u64>();

/// Tells a file that a crash of the machine left incomplete. It is no protection from
/// whoever can write it; the directory is.
fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(taken)
}

/// An instance as it was before it loaded.
pub struct Before {
    parts: Vec<Part>,
    fuel: u64,
}

/// One piece of the memory an instance showed.
pub(super) struct Part {
    at: u32,
    bytes: Vec<u8>,
}

impl Before {
    /// Looks at a fresh instance.
    ///
    /// # Errors
    /// Returns why the instance could not show its memory.
    pub async fn look(guest: &Starlark, store: &mut Store<Call>) -> wasmtime::Result<Self> {
        let parts = look(guest, store).await?;
        Ok(Self {
            parts,
            fuel: store.get_fuel()?,
        })
    }

    /// Takes the image of the instance now that it has loaded; nothing if it changed too much.
    ///
    /// # Errors
    /// Returns why the instance could not show its memory.
    pub async fn image(
        self,
        guest: &Starlark,
        store: &mut Store<Call>,
    ) -> wasmtime::Result<Option<Image>> {
        let fuel = self.fuel.saturating_sub(store.get_fuel()?);
        let after = look(guest, store).await?;
        Ok(self.difference(&after, fuel))
    }

    fn difference(&self, after: &[Part], fuel: u64) -> Option<Image> {
        let end = after
            .last()
            .map(|part| part.at as usize + part.bytes.len())?;
        let (mut addresses, mut blocks) = (Vec::new(), Vec::new());
        for (index, part) in after.iter().enumerate() {
            let before = self
                .parts
                .get(index)
                .filter(|before| before.at == part.at)?;
            for range in changed(&before.bytes, &part.bytes) {
                addresses.push(part.at + u32::try_from(range.start).ok()?);
                blocks.push(part.bytes[range].to_vec());
            }
        }
        let image = Image {
            pages: u32::try_from(end / PAGE).ok()?,
            fuel,
            addresses,
            blocks,
        };
        let small = image.blocks.len() <= MOST_BLOCKS && image.size() <= MOST_BYTES;
        small.then_some(image)
    }
}

/// Returns where the bytes differ. Memory that was not there yet was zero.
fn changed(before: &[u8], after: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, now) in after.chunks(GRAIN).enumerate() {
        let range = index * GRAIN..index * GRAIN + now.len();
        let was = before.get(range.start..).unwrap_or_default();
        let (old, new) = now.split_at(was.len().min(now.len()));
        if was.starts_with(old) && new.iter().all(|&byte| byte == 0) {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if range.start - last.end <= GAP => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges
}

/// Lets an instance show its memory, at nobody's expense.
async fn look(guest: &Starlark, store: &mut Store<Call>) -> wasmtime::Result<Vec<Part>> {
    let fuel = store.get_fuel()?;
    let room = store.hostcall_fuel();
    store.set_hostcall_fuel(Limits::ceiling().memory);
    store.data_mut().shown = Some(Vec::new());
    guest
        .hookbox_starlark_image()
        .call_show(&mut *store)
        .await?;
    let shown = store.data_mut().shown.take().unwrap_or_default();
    store.set_hostcall_fuel(room);
    store.set_fuel(fuel)?;
    Ok(shown)
}

impl images::Host for Call {
    fn part(&mut self, at: u32, bytes: Vec<u8>) -> wasmtime::Result<()> {
        match &mut self.shown {
            Some(shown) => {
                shown.push(Part { at, bytes });
                Ok(())
            }
            None => Err(wasmtime::format_err!("nobody asked to see the memory")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn image() -> impl Strategy<Value = Image> {
        let blocks = prop::collection::vec(
            (any::<u32>(), prop::collection::vec(any::<u8>(), 0..300)),
            0..20,
        );
        (any::<u32>(), any::<u64>(), blocks)
            .prop_map(|(pages, fuel, blocks)| Image::made_up(pages, fuel, blocks))
    }

    fn part(at: u32, bytes: &[u8]) -> Part {
        Part {
            at,
            bytes: bytes.to_vec(),
        }
    }

    proptest! {
        #[test]
        fn an_image_is_read_as_it_was_written(image in image()) {
            prop_assert_eq!(Image::from_bytes(&image.to_bytes()), Some(image));
        }

        #[test]
        fn a_damaged_image_is_none(image in image(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let whole = image.to_bytes();
            let at = at.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            prop_assert_eq!(Image::from_bytes(&flipped), None);
            prop_assert_eq!(Image::from_bytes(&whole[..at]), None);
        }

        #[test]
        fn the_difference_makes_one_memory_the_other(
            before in prop::collection::vec(0..2_u8, 0..4_000),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8), 0..20),
            emptied in 0..100_usize,
            grown in 0..2_000_usize,
        ) {
            let mut after = before.clone();
            after.resize(before.len() + grown, 0);
            if !after.is_empty() {
                for (at, byte) in changes {
                    let at = at.index(after.len());
                    after[at] = byte;
                }
            }
            // What was at the end is nothing now, and the memory goes on behind it.
            after[before.len().saturating_sub(emptied)..before.len()].fill(0);
            let look = Before { parts: vec![part(1024, &before)], fuel: 0 };
            let image = look.difference(&[part(1024, &after)], 7).unwrap();
            let mut put = before;
            put.resize(after.len(), 0);
            for (address, block) in image.addresses.iter().zip(&image.blocks) {
                let start = *address as usize - 1024;
                put[start..start + block.len()].copy_from_slice(block);
            }
            prop_assert_eq!(put, after);
        }
    }

    #[test]
    fn what_changed_too_much_has_no_image() {
        let before = vec![0; 2 * MOST_BYTES];
        let look = Before {
            parts: vec![part(0, &before)],
            fuel: 0,
        };
        let mut after = before.clone();
        after[..MOST_BYTES - 64].fill(1);
        assert!(look.difference(&[part(0, &after)], 0).is_some());
        after[..MOST_BYTES].fill(1);
        assert!(look.difference(&[part(0, &after)], 0).is_none());
        // Small changes, but very many.
        let mut after = before;
        after.iter_mut().step_by(512).for_each(|byte| *byte = 1);
        assert!(look.difference(&[part(0, &after)], 0).is_some());
    }
}
