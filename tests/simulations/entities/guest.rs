//! A client that watches which families come and go.
//!
//! *Invariant:* after each packet, each component has its root.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl::ReceiveError;
use repl::prelude::*;

use super::store::{self, Badge, Component, KINDS, Life, Place, Root};

/// What a client has of an entity: the values of its components, by kinds.
pub(crate) type Family = [Option<u32>; KINDS];

/// A client.
pub(crate) struct Guest {
    pub(crate) client: Client,
    /// The entities that the client has, after the last packet.
    pub(crate) families: BTreeMap<u32, Family>,
    /// The entities that have come with the last packet.
    pub(crate) arrived: BTreeSet<u32>,
}

impl Guest {
    pub(crate) fn new(number: u64) -> Self {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(number + 1));
        store::register_client(&mut client);
        Self { client, families: BTreeMap::new(), arrived: BTreeSet::new() }
    }

    /// Receives a packet, and looks at all families.
    pub(crate) fn receive(&mut self, now: Duration, packet: &[u8]) {
        if let Err(error) = self.client.receive(now, packet) {
            // A packet of an earlier session, or one that comes after the end of a session.
            assert!(matches!(error, ReceiveError::Damaged | ReceiveError::Closed), "{error}");
        }
        self.look();
    }

    /// Looks at all families.
    pub(crate) fn look(&mut self) {
        let before: BTreeSet<u32> = self.families.keys().copied().collect();
        let roots = self.client.objects::<Root>();
        self.families = roots.map(|(_, root)| (root.entity, [None; KINDS])).collect();
        self.note::<Place>();
        self.note::<Life>();
        self.note::<Badge>();
        self.arrived = self.families.keys().copied().filter(|entity| !before.contains(entity)).collect();
    }

    /// Notes all components of a class, and asserts that each is below the root of its entity.
    fn note<C: Component>(&mut self) {
        for (object, component) in self.client.objects::<C>() {
            let parent = self.client.object_info(object).parent().expect("a component has a root");
            let root = self.client.object_info(parent).cast::<Root>().expect("which is there");
            assert_eq!(self.client[root].entity, component.entity(), "it is the root of its entity");
            assert!(self.client.object_info(root).subobjects().any(|child| child == object.erase()));
            let family = self.families.get_mut(&component.entity()).expect("its root is there");
            // Of a component that was inserted in the place of another one, both may be there for a while.
            family[C::KIND] = family[C::KIND].max(Some(component.value()));
        }
    }
}
