//! The assets of a server: the methods for users, and the names of assets that clients receive (S199, S200).
//!
//! *Invariant:* for each asset to which data for a client refers, the server also sends the name to this
//! client.

use std::any::TypeId;

use repl_core::AssetRef;
use repl_link::Channel;

use super::Server;
use crate::body::asset_names::{AssetNames, NAMES_FIRST};
use crate::body::path::MAX_PATH_BYTES;

/// The assets of a server. [`Server::assets`] returns a `ServerAssets`, to add assets and to find them.
/// [`Server::asset_path`] returns the path of an asset.
pub struct ServerAssets<'a> {
    server: &'a mut Server,
}

impl Server {
    /// Allows classes, messages and calls to refer to [assets](AssetRef). Call this on both sides, or on
    /// neither side. Does nothing if assets are registered already.
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect) or [`connect_host`](Self::connect_host).
    #[track_caller]
    pub fn register_assets(&mut self) -> &mut Self {
        if !self.has_assets() {
            assert!(
                !self.is_registration_over(),
                "assets are new, but a client or a host has connected already: call `register_assets` before the first one"
            );
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
        self.world.store.assets.path(asset.number()?)
    }

    fn has_assets(&self) -> bool {
        self.sessions.mailbox.channel(TypeId::of::<AssetNames>()).is_some()
    }

    /// Stores the channel of the messages that tell clients the names of assets. Called when registration is
    /// over.
    pub(super) fn find_channel_of_assets(&mut self) {
        let channel = self.sessions.mailbox.channel(TypeId::of::<AssetNames>());
        self.world.store.assets.set_channel(channel);
    }
}

impl ServerAssets<'_> {
    /// Returns a reference to the asset with this path, and adds the asset if it is new. An asset is never
    /// removed. Costs O(bytes of the path), and for a new asset O(bytes × folders).
    ///
    /// The server sends the path to a client in the tick in which a value, message or call for this client
    /// first refers to the asset. The client reads the path before anything else of the same packet. If this
    /// packet is lost, or the limits of the connection delay the path, values read as null until the path
    /// arrives. A message that arrives earlier keeps the null. A call does so too, unless it has the
    /// attribute `waits`. Such a call waits for the path, but it does not wait until the client has added the
    /// asset. If a client knows the first asset of `meshes/rocks`, it is sent only `big` for the path
    /// `meshes/rocks/big`. A client that has an object may learn the paths of all assets to which the object
    /// refers, also in properties that a condition hides from it.
    ///
    /// A [serialiser by hand](repl_core::NetSerialize) must write references into the writer that it
    /// receives. If it writes a reference into another writer, and then appends the bits, the server does not
    /// notice the reference.
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
    /// Panics if the path is empty or longer than 255 bytes, or if there are 16,777,215 assets.
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
        self.server.world.store.assets.find(path).map(AssetRef::new)
    }
}
