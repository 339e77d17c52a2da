//! The paths of the assets of a server: of what is no object, such as meshes and sounds (S199).
//!
//! *Invariant:* the number of an asset never changes, and is never that of another path. Each asset has a
//! number above that of its outer asset.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::body::asset_names::{AssetName, MAX_NUMBER};

/// The paths of all assets, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct AssetPaths {
    /// The asset with the number 1 is the first.
    all: Vec<Asset>,
    numbers: HashMap<Arc<str>, NonZeroU32>,
    /// The channel of the messages with names, if assets are registered and clients may have connected.
    channel: Option<u16>,
}

#[derive(Debug)]
struct Asset {
    path: Arc<str>,
    outer: Option<NonZeroU32>,
}

impl AssetPaths {
    /// Returns the number of the asset with a path, and adds the asset with all outer ones if it is new. A path
    /// is in the one before its last slash.
    pub(crate) fn add(&mut self, path: &str) -> NonZeroU32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let end = path.rfind('/').filter(|&end| end > 0);
        let outer = end.map(|end| self.add(&path[..end]));
        assert!(self.all.len() < MAX_NUMBER as usize, "a server has at most {MAX_NUMBER} assets");
        let path: Arc<str> = Arc::from(path);
        self.all.push(Asset { path: path.clone(), outer });
        let number = NonZeroU32::MIN.saturating_add(self.all.len() as u32 - 1);
        self.numbers.insert(path, number);
        number
    }

    fn get(&self, number: NonZeroU32) -> Option<&Asset> {
        self.all.get(number.get() as usize - 1)
    }

    /// Returns whether there is an asset with this number.
    pub(crate) fn contains(&self, number: NonZeroU32) -> bool {
        number.get() as usize <= self.all.len()
    }

    /// Returns the number of the asset in which another one is.
    pub(crate) fn outer(&self, number: NonZeroU32) -> Option<NonZeroU32> {
        self.get(number)?.outer
    }

    /// Returns the name of an asset, as clients are sent it.
    pub(crate) fn name(&self, number: NonZeroU32) -> Option<AssetName> {
        let Asset { path, outer } = self.get(number)?;
        let outer_path = outer.and_then(|outer| self.get(outer)).map_or("", |outer| &*outer.path);
        Some(AssetName { number, outer: *outer, name: path[outer_path.len()..].to_owned() })
    }

    /// Returns the number of the asset with a path.
    pub(crate) fn find(&self, path: &str) -> Option<NonZeroU32> {
        self.numbers.get(path).copied()
    }

    /// Returns the path of an asset.
    pub(crate) fn path(&self, number: NonZeroU32) -> Option<&str> {
        self.get(number).map(|asset| &*asset.path)
    }

    pub(crate) fn set_channel(&mut self, channel: Option<u16>) {
        self.channel = channel;
    }

    /// Returns the channel of the messages with names. `None` if assets are not registered.
    pub(crate) fn channel(&self) -> Option<u16> {
        self.channel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s199_an_asset_has_one_number_and_is_in_the_asset_of_its_folder() {
        let mut assets = AssetPaths::default();
        for path in ["a/b/c", "a/b/d", "/x", "a", "e//f", "a/b/c", "/"] {
            let number = assets.add(path);
            let (mut whole, mut next) = (String::new(), Some(number));
            while let Some(name) = next.and_then(|next| assets.name(next)) {
                assert!(name.outer < Some(name.number) && !name.name.is_empty());
                whole.insert_str(0, &name.name);
                next = name.outer;
            }
            assert_eq!(whole, path);
        }
        let names: Vec<_> = (1..=9).map_while(|at| assets.name(NonZeroU32::new(at)?)).collect();
        let names: Vec<_> = names.iter().map(|name| (name.outer.map(u32::from), &*name.name)).collect();
        let expected = [
            (None, "a"),
            (Some(1), "/b"),
            (Some(2), "/c"),
            (Some(2), "/d"),
            (None, "/x"),
            (None, "e"),
            (Some(6), "/"),
            (Some(7), "/f"),
            (None, "/"),
        ];
        assert_eq!(names, expected);
    }
}
