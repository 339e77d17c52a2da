//! The paths of the assets of a server. Assets are not objects: they are, for example, meshes and sounds
//! (S199).
//!
//! *Invariant:* the number of an asset never changes, and no two paths have the same number.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::body::asset_names::{AssetName, MAX_NUMBER};

#[derive(Debug, Default)]
pub(crate) struct AssetPaths {
    all: Vec<Asset>,
    numbers: HashMap<Arc<str>, NonZeroU32>,
    /// The first asset in each folder. The key is the path of the folder, including its last slash.
    folders: HashMap<Box<str>, NonZeroU32>,
    /// The channel of the messages that tell clients the names of assets. `None` before the first connection,
    /// and if assets are not registered.
    channel: Option<u16>,
}

#[derive(Debug)]
struct Asset {
    path: Arc<str>,
    /// The first asset in the innermost folder of this asset that already contained an asset when this one
    /// was added.
    neighbour: Option<NonZeroU32>,
}

impl AssetPaths {
    /// Returns the number of the asset with a path, and adds the asset if it is new. Costs O(bytes of the
    /// path), or O(bytes × folders) for a new asset.
    pub(crate) fn add(&mut self, path: &str) -> NonZeroU32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        assert!(self.all.len() < MAX_NUMBER as usize, "a server has at most {MAX_NUMBER} assets");
        let number = NonZeroU32::MIN.saturating_add(self.all.len() as u32);
        let mut neighbour = None;
        for (slash, _) in path.match_indices('/').rev() {
            let folder = &path[..=slash];
            if let Some(&first) = self.folders.get(folder) {
                neighbour = Some(first);
                break;
            }
            self.folders.insert(folder.into(), number);
        }
        let path: Arc<str> = Arc::from(path);
        self.all.push(Asset { path: path.clone(), neighbour });
        self.numbers.insert(path, number);
        number
    }

    fn get(&self, number: NonZeroU32) -> Option<&Asset> {
        self.all.get(number.get() as usize - 1)
    }

    pub(crate) fn contains(&self, number: NonZeroU32) -> bool {
        number.get() as usize <= self.all.len()
    }

    /// Returns the name of an asset for a client: its path, shortened by the bytes that it shares with an
    /// asset that the client knows. `is_named` returns whether an asset was named to the client before. Costs
    /// O(folders × bytes of the path).
    pub(crate) fn name(
        &self,
        number: NonZeroU32,
        is_named: impl Fn(NonZeroU32) -> bool,
    ) -> Option<AssetName> {
        let Asset { path, neighbour } = self.get(number)?;
        let mut neighbour = *neighbour;
        while let Some(of) = neighbour {
            let other = self.get(of)?;
            let bytes = if is_named(of) { shared_bytes(path, &other.path) } else { 0 };
            if bytes > 0 {
                let (shared, rest) = (Some((of, bytes as u8)), path[bytes..].to_owned());
                return Some(AssetName { number, shared, rest });
            }
            neighbour = other.neighbour;
        }
        Some(AssetName { number, shared: None, rest: path.as_ref().to_owned() })
    }

    pub(crate) fn find(&self, path: &str) -> Option<NonZeroU32> {
        self.numbers.get(path).copied()
    }

    pub(crate) fn path(&self, number: NonZeroU32) -> Option<&str> {
        self.get(number).map(|asset| &*asset.path)
    }

    pub(crate) fn set_channel(&mut self, channel: Option<u16>) {
        self.channel = channel;
    }

    /// Returns the channel of the messages that tell clients the names of assets, or `None` if assets are not
    /// registered.
    pub(crate) fn channel(&self) -> Option<u16> {
        self.channel
    }
}

/// Returns the length of the common prefix of two paths, in bytes. The last character of `path` never counts
/// as common.
fn shared_bytes(path: &str, other: &str) -> usize {
    let last = path.char_indices().next_back().map_or(0, |(at, _)| at);
    let shared = path.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=shared.min(last)).rev().find(|&at| path.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s199_a_name_is_a_path_without_what_it_shares_with_one_that_was_named() {
        let mut assets = AssetPaths::default();
        let paths = ["a/b/c", "a/b/d", "/x", "a", "e//f", "a/b/", "/", "a/q", "a/bü/x", "a/bä/x", "plain"];
        let numbers = paths.map(|path| assets.add(path));
        assert_eq!(assets.add("a/b/d"), numbers[1]);
        let said = |is_named: &dyn Fn(NonZeroU32) -> bool| -> Vec<(u32, String)> {
            let names = numbers.iter().filter_map(|&number| assets.name(number, is_named));
            names.map(|name| (name.shared.map_or(0, |(of, _)| of.get()), name.rest)).collect()
        };
        let whole: Vec<_> = paths.iter().map(|&path| (0, path.to_owned())).collect();
        assert_eq!(said(&|_| false), whole, "nothing was named");
        for (number, (of, rest)) in numbers.iter().zip(said(&|_| true)) {
            let path = assets.path(*number).expect("a path");
            let shared = NonZeroU32::new(of).map_or("", |of| assets.path(of).expect("a path"));
            assert!(of < number.get() && !rest.is_empty() && path.ends_with(&rest));
            assert!(shared.starts_with(&path[..path.len() - rest.len()]));
        }
        let rests: Vec<_> = said(&|_| true).into_iter().map(|(_, rest)| rest).collect();
        assert_eq!(rests, ["a/b/c", "d", "/x", "a", "e//f", "/", "/", "q", "ü/x", "ä/x", "plain"]);
    }
}
