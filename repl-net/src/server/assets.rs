//! The assets of a server: what is no object and has a path, such as meshes and sounds (S93 to S101, S199).
//!
//! *Invariant:* the number of an asset never changes, and is never that of another path. Each asset has a
//! number above that of its outer asset.

use std::any::TypeId;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::AssetRef;
use repl_link::Channel;
use repl_link::parts::ServerSessions;

use super::Server;
use super::connection::Connection;
use crate::body::asset_names::{AssetName, AssetNames, NAMES_FIRST};
use crate::body::path::MAX_PATH_BYTES;

/// The assets of a server. [`Server::assets`] returns a `ServerAssets`, to add assets and to find them.
/// [`Server::asset_path`] returns the path of an asset.
pub struct ServerAssets<'a> {
    server: &'a mut Server,
}

/// The paths of all assets, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Assets {
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

impl Server {
    /// Registers that classes, messages or calls refer to [assets](AssetRef). Do this on both sides, or on
    /// neither. Does nothing if assets are registered already.
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect).
    #[track_caller]
    pub fn register_assets(&mut self) -> &mut Self {
        if !self.has_assets() {
            self.register_message_with::<AssetNames>(Channel::Ordered, NAMES_FIRST);
        }
        self
    }

    /// Returns the assets of the server, to add and to find them.
    ///
    /// # Panics
    /// Panics if assets are not [registered](Self::register_assets).
    #[must_use]
    #[track_caller]
    pub fn assets(&mut self) -> ServerAssets<'_> {
        assert!(
            self.has_assets(),
            "assets are not registered: call `register_assets` on both sides before they connect"
        );
        ServerAssets { server: self }
    }

    /// Returns the path of an asset, or `None` if the reference is null or not from this server.
    #[must_use]
    pub fn asset_path<T: ?Sized>(&self, asset: AssetRef<T>) -> Option<&str> {
        Some(&self.world.store.assets.get(asset.number()?)?.path)
    }

    fn has_assets(&self) -> bool {
        self.sessions.mailbox.channel(TypeId::of::<AssetNames>()).is_some()
    }

    /// Makes the names of the assets be sent to which the message refers that was written last, to the
    /// connections that receive it.
    pub(super) fn name_assets_in_message(&mut self, receives: impl Fn(&Connection) -> bool) {
        let ServerSessions { peers, mailbox, .. } = &mut self.sessions;
        let numbers = mailbox.named_assets();
        if numbers.is_empty() {
            return;
        }
        for peer in peers.values_mut().filter(|peer| receives(&peer.connection)) {
            peer.connection.need_assets(numbers, &self.world.store.assets);
        }
    }

    /// Finds the channel of the messages with names. Called when nothing more can be registered.
    pub(super) fn find_channel_of_assets(&mut self) {
        self.world.store.assets.channel = self.sessions.mailbox.channel(TypeId::of::<AssetNames>());
    }
}

impl ServerAssets<'_> {
    /// Returns a reference to the asset with this path, and adds the asset if it is new. An asset is never
    /// removed. Costs O(bytes of the path).
    ///
    /// A client learns the path before or together with the first value, message or call for it that refers
    /// to the asset. Of `meshes/rocks/big`, a client that knows `meshes/rocks` is sent only `/big`. A client
    /// that has an object may learn the paths of all assets to which the object refers, also in properties
    /// that a condition hides from it.
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::{Server, ServerConfig};
    /// struct Mesh;
    ///
    /// let mut server = Server::new(ServerConfig::default());
    /// server.register_assets();
    /// let rock = server.assets().add::<Mesh>("meshes/rocks/big");
    /// assert_eq!(server.asset_path(rock), Some("meshes/rocks/big"));
    /// assert_eq!(server.assets().find::<Mesh>("meshes/rocks/small"), None);
    /// ```
    ///
    /// # Panics
    /// Panics if the path is empty or longer than 255 bytes.
    #[track_caller]
    pub fn add<T: ?Sized>(&mut self, path: &str) -> AssetRef<T> {
        let bytes = path.len();
        assert!(
            (1..=MAX_PATH_BYTES).contains(&bytes),
            "a path of {bytes} bytes: a path has from 1 to {MAX_PATH_BYTES} bytes"
        );
        AssetRef::new(self.server.world.store.assets.add(path))
    }

    /// Returns a reference to the asset with this path, if it was added.
    #[must_use]
    pub fn find<T: ?Sized>(&self, path: &str) -> Option<AssetRef<T>> {
        self.server.world.store.assets.numbers.get(path).map(|&number| AssetRef::new(number))
    }
}

impl Assets {
    fn add(&mut self, path: &str) -> NonZeroU32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let end = path.rfind('/').filter(|&end| end > 0);
        let outer = end.map(|end| self.add(&path[..end]));
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
        let mut assets = Assets::default();
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
