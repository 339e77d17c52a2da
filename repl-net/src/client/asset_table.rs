//! The assets that a client has, and the assets that the server has named: it has told the client their
//! numbers and paths.
//!
//! *Invariant:* a server can make the client store at most [`max_assets`](crate::ClientConfig::max_assets)
//! paths, each of at most 255 bytes. If a correct server cannot have sent a name, it is refused.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::Guid;

use crate::body::asset_names::{AssetName, MAX_NUMBER};
use crate::body::path::MAX_PATH_BYTES;

#[derive(Debug)]
pub(super) struct AssetTable {
    /// The assets that the server has named, by their numbers.
    named: BTreeMap<NonZeroU32, NamedAsset>,
    numbers: HashMap<Arc<str>, NonZeroU32>,
    /// The paths of the assets that the client has.
    added: HashSet<Arc<str>>,
    /// The greatest asset number that the user has seen. An epoch adds an offset to the server's numbers
    /// after it was restarted; this is the greatest sum.
    newest: u32,
    /// The greatest number of assets that the server may name.
    max_assets: usize,
}

#[derive(Debug)]
struct NamedAsset {
    path: Arc<str>,
    is_added: bool,
    /// Whether the server has named the asset in this session, not only in an earlier one.
    is_named_now: bool,
}

/// What follows from a name that the server has sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// The client has the asset with this guid, so references to it resolve from now on.
    Added(Guid),
    /// The client does not have the asset with this path.
    Unknown(Arc<str>),
}

impl AssetTable {
    pub(super) fn new(max_assets: usize) -> Self {
        Self { named: BTreeMap::new(), numbers: HashMap::new(), added: HashSet::new(), newest: 0, max_assets }
    }

    pub(super) fn contains(&self, number: NonZeroU32) -> bool {
        self.named.get(&number).is_some_and(|named| named.is_added)
    }

    /// Returns the path of the asset with this number of the server, if the server has named it.
    pub(super) fn path(&self, number: NonZeroU32) -> Option<&Arc<str>> {
        self.named.get(&number).map(|named| &named.path)
    }

    /// Returns the server's number of an asset, if the server has named it.
    pub(super) fn number(&self, path: &str) -> Option<NonZeroU32> {
        self.numbers.get(path).copied()
    }

    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    /// Adds an asset that the client has. Returns the asset's guid if the server has named the asset and the
    /// client did not have it before.
    pub(super) fn add(&mut self, path: &str) -> Option<Guid> {
        self.added.insert(Arc::from(path));
        let number = *self.numbers.get(path)?;
        let named = self.named.get_mut(&number)?;
        (!std::mem::replace(&mut named.is_added, true)).then(|| Guid::asset(number))
    }

    /// Stores a name that the server has sent. `offset` is added to the server's numbers to compute the
    /// numbers that the user sees.
    ///
    /// # Errors
    /// Returns an error with a reason if a correct server cannot have sent such a name.
    pub(super) fn learn(&mut self, name: AssetName, offset: u32) -> Result<Learned, &'static str> {
        let AssetName { number, shared, rest } = name;
        let shared = match shared {
            Some((_, 0)) => return Err("an asset that shares nothing of a path"),
            Some((of, bytes)) => {
                let path = self.path(of).ok_or("an asset that shares the path of one without a name")?;
                path.get(..bytes.into()).ok_or("an asset that shares more of a path than there is")?
            }
            None => "",
        };
        if shared.len().saturating_add(rest.len()) > MAX_PATH_BYTES {
            return Err("a path of an asset that is too long");
        }
        let path: Arc<str> = Arc::from([shared, &*rest].concat());
        if number.get() > MAX_NUMBER {
            return Err("a number of an asset that is too great");
        }
        match (self.named.get_mut(&number), self.numbers.get(&path)) {
            (None, None) => {}
            (Some(named), Some(&same)) if same == number && !named.is_named_now => {
                named.is_named_now = true;
                let is_added = named.is_added;
                return Ok(if is_added {
                    Learned::Added(Guid::asset(number))
                } else {
                    Learned::Unknown(path)
                });
            }
            _ => return Err("an asset that was named before"),
        }
        if self.named.len() >= self.max_assets {
            return Err("more assets than `max_assets`");
        }
        let known = number.checked_add(offset).ok_or("a number of an asset that is too great")?;
        self.newest = self.newest.max(known.get());
        let is_added = self.added.contains(&path);
        self.numbers.insert(path.clone(), number);
        self.named.insert(number, NamedAsset { path: path.clone(), is_added, is_named_now: true });
        Ok(if is_added { Learned::Added(Guid::asset(number)) } else { Learned::Unknown(path) })
    }

    /// Begins a new session, in which the server names its assets again. If it is another server, forgets the
    /// names of the previous server.
    pub(super) fn begin_session(&mut self, is_other_server: bool) {
        if is_other_server {
            self.named.clear();
            self.numbers.clear();
        }
        self.named.values_mut().for_each(|named| named.is_named_now = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a name. If `of` is not zero, the name shares the first byte of its path with the asset `of`.
    fn name(number: u32, of: u32, rest: &str) -> AssetName {
        let number = NonZeroU32::new(number).expect("not zero");
        AssetName { number, shared: NonZeroU32::new(of).map(|of| (of, 1)), rest: rest.to_owned() }
    }

    #[test]
    fn s199_names_that_no_server_sends_are_refused() {
        let mut table = AssetTable::new(3);
        table.add("a/b");
        assert_eq!(table.learn(name(5, 0, "a"), 0), Ok(Learned::Unknown(Arc::from("a"))));
        let b = NonZeroU32::new(9).expect("not zero");
        assert_eq!(table.learn(name(9, 5, "/b"), 0), Ok(Learned::Added(Guid::asset(b))));
        assert!(table.contains(b) && table.number("a/b") == Some(b));
        for (name, why) in [
            (name(9, 0, "c"), "an asset that was named before"),
            (name(7, 0, "a/b"), "an asset that was named before"),
            (name(7, 8, "/c"), "an asset that shares the path of one without a name"),
            (
                AssetName { shared: NonZeroU32::new(5).map(|of| (of, 0)), ..name(7, 0, "c") },
                "an asset that shares nothing of a path",
            ),
            (
                AssetName { shared: NonZeroU32::new(5).map(|of| (of, 2)), ..name(7, 0, "c") },
                "an asset that shares more of a path than there is",
            ),
            (name(7, 5, &"c".repeat(255)), "a path of an asset that is too long"),
            (name(u32::MAX, 0, "c"), "a number of an asset that is too great"),
        ] {
            assert_eq!(table.learn(name, 1), Err(why));
        }
        assert!(table.learn(name(7, 5, &"c".repeat(254)), 0).is_ok());
        assert_eq!(table.learn(name(8, 0, "d"), 0), Err("more assets than `max_assets`"));
        assert_eq!((table.named.len(), table.numbers.len()), (3, 3));
    }

    #[test]
    fn s200_another_session_of_the_same_server_names_the_same_again() {
        let mut table = AssetTable::new(2);
        table.add("a");
        let a = NonZeroU32::new(5).expect("not zero");
        assert_eq!(table.learn(name(5, 0, "a"), 0), Ok(Learned::Added(Guid::asset(a))));
        table.begin_session(false);
        assert!(table.contains(a) && table.number("a") == Some(a), "its number means the same");
        assert!(table.learn(name(6, 0, "a"), 0).is_err() && table.learn(name(5, 0, "b"), 0).is_err());
        assert_eq!(table.learn(name(5, 0, "a"), 0), Ok(Learned::Added(Guid::asset(a))));
        assert!(table.learn(name(5, 0, "a"), 0).is_err(), "only once in a session");
        table.begin_session(true);
        assert!(!table.contains(a) && table.number("a").is_none());
        assert_eq!(table.learn(name(1, 0, "a"), 5).map(drop), Ok(()));
        let far = name(MAX_NUMBER + 1, 0, "b");
        assert_eq!(table.learn(far, 0), Err("a number of an asset that is too great"));
        assert!(table.learn(name(MAX_NUMBER, 0, "b"), 0).is_ok());
    }
}
