//! A client that checks which families (entities with their components) appear and disappear.
//!
//! *Invariant:* after each packet, each component has its root.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl::ReceiveError;
use repl::prelude::*;

use super::store::{self, Badge, Component, KINDS, Life, Place, Root, Told};

/// What a client has of an entity: the values of its components, by kinds.
pub(crate) type Family = [Option<u32>; KINDS];

pub(crate) struct Guest {
    pub(crate) client: Client,
    /// The objects as the polled updates describe them.
    told: BTreeMap<ObjectRef<()>, Told>,
    /// The entities that the client has, after the last packet.
    pub(crate) families: BTreeMap<u32, Family>,
    /// The entities that appeared with the last packet.
    pub(crate) arrived: BTreeSet<u32>,
}

impl Guest {
    pub(crate) fn new(number: u64) -> Self {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(number + 1));
        store::register_client(&mut client);
        assert!(client.poll_update().is_none(), "from now on it is told");
        Self { client, told: BTreeMap::new(), families: BTreeMap::new(), arrived: BTreeSet::new() }
    }

    /// Receives a packet, and looks at all families.
    pub(crate) fn receive(&mut self, now: Duration, packet: &[u8]) {
        if let Err(error) = self.client.receive(now, packet) {
            // The packet belongs to an earlier session, or arrives after the end of its session.
            assert!(matches!(error, ReceiveError::Damaged | ReceiveError::Closed), "{error}");
        }
        self.look();
    }

    /// Polls the updates, and asserts that a root appears before its components, and disappears after them.
    fn follow(&mut self) {
        while let Some(update) = self.client.poll_update() {
            let parent = self.client.object_info(update.object).parent();
            match update.what {
                UpdateKind::Spawned => {
                    assert!(parent.is_none_or(|root| self.told.contains_key(&root)), "its root came before");
                    self.told.insert(update.object, Told { parent, ..Told::default() });
                }
                UpdateKind::Despawned(_) => {
                    let gone = self.told.remove(&update.object).expect("it had come");
                    assert_eq!(parent, gone.parent, "whose it was is known as long as it can be read");
                    assert!(self.told.values().all(|other| other.parent != Some(update.object)));
                }
                _ => {}
            }
            if let Some(told) = self.told.get_mut(&update.object) {
                update.copy_to(&self.client, &mut told.root);
                update.copy_to(&self.client, &mut told.place);
                update.copy_to(&self.client, &mut told.life);
                update.copy_to(&self.client, &mut told.badge);
                told.is_owner = self.client.object_info(update.object).is_owner();
            }
        }
    }

    /// Returns the entity that carries this entity, according to the updates, if the client has both
    /// entities.
    pub(crate) fn carrier(&self, entity: u32) -> Option<u32> {
        let is_root = |told: &&Told| told.parent.is_none() && told.root.entity == entity;
        let told = self.told.values().find(is_root)?;
        self.client.get(told.root.carrier).map(|carrier| carrier.entity)
    }

    /// Records the families that the client has now.
    pub(crate) fn look(&mut self) {
        self.follow();
        let there = self.client.objects::<Root>().map(|(root, _)| root.erase());
        let parts = there.flat_map(|root| self.client.object_info(root).subobjects().chain([root]));
        assert_eq!(parts.count(), self.told.len(), "the updates have told what there is");
        let before: BTreeSet<u32> = self.families.keys().copied().collect();
        let roots = self.client.objects::<Root>();
        self.families = roots.map(|(_, root)| (root.entity, [None; KINDS])).collect();
        self.note::<Place>();
        self.note::<Life>();
        self.note::<Badge>();
        self.arrived = self.families.keys().copied().filter(|entity| !before.contains(entity)).collect();
    }

    /// Records all components of a class, and asserts that each is a subobject of the root of its entity.
    fn note<C: Component>(&mut self) {
        for (object, component) in self.client.objects::<C>() {
            let told = self.told.get(&object.erase()).expect("it was told");
            assert_eq!(C::of(told).value(), component.value(), "each value was told");
            assert_eq!(told.is_owner, self.client.object_info(object).is_owner());
            let parent = self.client.object_info(object).parent().expect("a component has a root");
            let root = self.client.object_info(parent).cast::<Root>().expect("which is there");
            assert_eq!(self.client[root].entity, component.entity(), "it is the root of its entity");
            assert!(self.client.object_info(root).subobjects().any(|child| child == object.erase()));
            let family = self.families.get_mut(&component.entity()).expect("its root is there");
            // If a component was replaced by a new one, the client may have both for a while.
            family[C::KIND] = family[C::KIND].max(Some(component.value()));
        }
    }
}
