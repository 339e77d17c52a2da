//! Adds assets to the client, and resolves the references to them.
//!
//! *Invariant:* when a reference to an asset becomes valid, all values with it are read again, and notifies
//! run.

use std::num::NonZeroU32;

use repl_core::Guid;

use super::Replicas;
use crate::body::asset_names::AssetNames;
use crate::body::walk::BodyError;
use crate::client::asset_table::Learned;
use crate::session::client_events::ClientEvents;
use crate::session::events::ClientEvent;

impl Replicas {
    /// Adds an asset that the client has. References to it become valid if the server has already named it.
    pub(crate) fn add_asset(&mut self, path: &str) {
        if let Some(guid) = self.slots.assets.add(path) {
            self.created_or_removed.push(guid);
            self.begin_updates(None);
            self.finish();
            self.end_updates();
        }
    }

    /// Stores names (numbers and paths) of assets that have arrived in a packet without objects. References
    /// to those that the client has become valid.
    ///
    /// # Errors
    /// Returns an error if a correct server cannot have sent such names. Then the connection must end.
    pub(crate) fn learn_assets(
        &mut self,
        names: Vec<AssetNames>,
        events: &mut ClientEvents,
    ) -> Result<(), BodyError> {
        self.take_names(names, events)?;
        self.finish();
        Ok(())
    }

    /// Stores names (numbers and paths) of assets that the server has sent. Values with references to these
    /// assets are read again later.
    ///
    /// # Errors
    /// Returns an error if a correct server cannot have sent such names. Then the connection must end.
    pub(super) fn take_names(
        &mut self,
        names: Vec<AssetNames>,
        events: &mut ClientEvents,
    ) -> Result<(), BodyError> {
        let offset = self.slots.epoch.offset();
        for name in names.into_iter().flat_map(|AssetNames(names)| names) {
            match self.slots.assets.learn(name, offset).map_err(BodyError::malformed)? {
                Learned::Added(guid) => self.created_or_removed.push(guid),
                Learned::Unknown(path) => events.push(ClientEvent::UnknownAsset(path)),
            }
        }
        Ok(())
    }

    /// Returns the number of an asset in the user's references.
    pub(crate) fn find_asset(&self, path: &str) -> Option<NonZeroU32> {
        let guid = Guid::asset(self.slots.assets.number(path)?);
        self.slots.epoch.from_wire(guid)?.asset_number()
    }

    /// Returns the path of an asset. `number` is its number in the user's references.
    pub(crate) fn asset_path(&self, number: NonZeroU32) -> Option<&str> {
        let guid = self.slots.epoch.to_wire(Guid::asset(number))?;
        self.slots.assets.path(guid.asset_number()?).map(|path| &**path)
    }
}
