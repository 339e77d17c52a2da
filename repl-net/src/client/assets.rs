//! The assets of a client, for its user: which assets the client has, and which references refer to them
//! (S199 to S201).
//!
//! *Invariant:* a reference that the user sees is null, or refers to an asset that the user has added.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::any::TypeId;

use repl_core::AssetRef;
use repl_link::Channel;

use super::Client;
use crate::body::asset_names::{AssetNames, NAMES_FIRST};
use crate::body::path::MAX_PATH_BYTES;

/// The assets of a client. [`Client::assets`] returns a `ClientAssets`, with methods to add and find assets.
/// [`Client::asset_path`] returns the path of an asset.
pub struct ClientAssets<'a> {
    client: &'a mut Client,
}

impl Client {
    /// Registers that classes, messages or calls contain references to [assets](AssetRef). Call this on both
    /// sides or on neither side. Does nothing if assets were already registered.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick).
    #[track_caller]
    pub fn register_assets(&mut self) -> &mut Self {
        if !self.has_assets() {
            assert!(self.session.may_register(), "assets must be registered before the first `tick`");
            self.register_message_with::<AssetNames>(Channel::Ordered, NAMES_FIRST);
        }
        self
    }

    /// Returns the assets of the client, to add or find some.
    ///
    /// # Panics
    /// Panics if assets are not [registered](Self::register_assets).
    #[must_use]
    #[track_caller]
    pub fn assets(&mut self) -> ClientAssets<'_> {
        assert!(
            self.has_assets(),
            "assets are not registered: call `register_assets` on both sides before they connect"
        );
        ClientAssets { client: self }
    }

    /// Returns the path of an asset. Returns `None` if the reference is null, or if the client has connected
    /// to another server since it received the reference.
    ///
    /// Limitation: if the client has a class with a map whose keys can contain references, it cannot
    /// recognise a reference from before the connection to another server. This method may then return the
    /// path of another asset.
    #[must_use]
    pub fn asset_path<T: ?Sized>(&self, asset: AssetRef<T>) -> Option<&str> {
        self.replicas.asset_path(asset.number()?)
    }

    fn has_assets(&self) -> bool {
        self.session.mailbox.channel(TypeId::of::<AssetNames>()).is_some()
    }
}

impl ClientAssets<'_> {
    /// Records that the client has the asset with this path, for example because it is loaded. References to
    /// the asset that read as null become valid at once, and the notifies of their properties run before
    /// `add` returns. In messages, in calls, and in objects that were torn off or removed, such references
    /// remain null, because these are not updated any more. Does nothing if the asset was added before. An
    /// asset is never removed, and remains in all sessions.
    ///
    /// Assets can be added at any time. If the server names an asset that the client does not have, the event
    /// [`UnknownAsset`](crate::ClientEvent::UnknownAsset) reports the path, so that the program can load the
    /// asset.
    ///
    /// ```
    /// # use repl_net::{Client, ClientEvent};
    /// fn load_what_is_missing(client: &mut Client, mut load: impl FnMut(&str) -> bool) {
    ///     while let Some(event) = client.poll_event() {
    ///         if let ClientEvent::UnknownAsset(path) = event
    ///             && load(&path)
    ///         {
    ///             client.assets().add(&path);
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics if the path is empty or longer than 255 bytes.
    #[track_caller]
    pub fn add(&mut self, path: &str) {
        let bytes = path.len();
        assert!(
            (1..=MAX_PATH_BYTES).contains(&bytes),
            "a path of {bytes} bytes: a path has from 1 to {MAX_PATH_BYTES} bytes"
        );
        self.client.replicas.add_asset(path);
    }

    /// Returns a reference to the asset with this path, to compare it with other references or to send it to
    /// the server. Returns `None` if the server has not named the asset.
    #[must_use]
    pub fn find<T: ?Sized>(&self, path: &str) -> Option<AssetRef<T>> {
        self.client.replicas.find_asset(path).map(AssetRef::new)
    }
}
