//! The truth: the last decoded value of every property of every open actor.
//!
//! *Invariant:* the values are taken from the decoder, and never from the objects of the server. So the
//! comparison also finds mistakes in writing to these objects, not only mistakes of replication.

use std::collections::BTreeMap;

use boxcars::{Attribute, Frame, NewActor, ObjectId};
use repl::prelude::*;

use crate::recording::{Change, Recording};
use crate::stage::{self, Stage};

/// The state of a recording after some frame.
#[derive(Default)]
pub(crate) struct Truth<'a> {
    actors: BTreeMap<i32, Known<'a>>,
}

/// The decoded values of an actor.
struct Known<'a> {
    opened: &'a NewActor,
    values: BTreeMap<ObjectId, Vec<&'a Attribute>>,
}

impl<'a> Truth<'a> {
    /// Applies the content of a frame.
    pub(crate) fn learn(&mut self, frame: &'a Frame, changes: &[Change<'a>]) {
        for actor in &frame.deleted_actors {
            self.actors.remove(&actor.0);
        }
        for opened in &frame.new_actors {
            let known =
                self.actors.entry(opened.actor_id.0).or_insert(Known { opened, values: BTreeMap::new() });
            if (known.opened.object_id, known.opened.name_id) != (opened.object_id, opened.name_id) {
                known.values.clear();
            }
            known.opened = opened;
        }
        for change in changes {
            if let Some(known) = self.actors.get_mut(&change.actor) {
                known.values.insert(change.property, change.values.clone());
            }
        }
    }

    /// Returns whether the client has exactly the open actors and all their values, bit for bit.
    pub(crate) fn is_known_to(&self, client: &Client, stage: &Stage, recording: &Recording) -> bool {
        stage::objects_at_client(client) == self.actors.len()
            && self.actors.iter().all(|(number, known)| {
                let Some(handle) = stage.handle(*number) else { return false };
                let holds = |(property, values): (&ObjectId, &Vec<&Attribute>)| {
                    handle.holds(client, &recording.key(*property), values)
                };
                handle.is_opened_as(client, known.opened) && known.values.iter().all(holds)
            })
    }
}
