//! The truth: the last decoded value of every property of every open actor.
//!
//! *Invariant:* the values are taken from the decoder, and never from the objects of the server. So the
//! comparison also finds mistakes in writing to these objects, not only mistakes of replication.

use std::collections::BTreeMap;

use boxcars::{Attribute, Frame, NewActor, ObjectId};
use repl::prelude::*;

use crate::lacks;
use crate::recording::{Change, Recording};
use crate::stage::{self, Stage};

/// The state of a recording after the last frame that was applied.
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
    /// Applies the content of a frame. Each change comes with a flag that says whether the example's classes
    /// can hold it. If they cannot hold the last change of a property, this property is not compared.
    pub(crate) fn learn<'c>(
        &mut self,
        frame: &'a Frame,
        changes: impl Iterator<Item = (&'c Change<'a>, bool)>,
    ) where
        'a: 'c,
    {
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
        for (change, is_played) in changes {
            let Some(known) = self.actors.get_mut(&change.actor) else { continue };
            if is_played {
                known.values.insert(change.property, change.values.clone());
            } else {
                known.values.remove(&change.property);
            }
        }
    }

    /// Returns the first difference, bit for bit, between a client's objects and the actors that are open.
    /// Returns `None` if nothing differs.
    pub(crate) fn difference(&self, client: &Client, stage: &Stage, recording: &Recording) -> Option<String> {
        let (objects, actors) = (stage::objects_at_client(client), self.actors.len());
        if objects != actors {
            return Some(format!("a client has {objects} objects, and {actors} actors are open"));
        }
        self.actors.iter().find_map(|(number, known)| {
            let archetype = recording.name(known.opened.object_id);
            let Some(handle) = stage.handle(*number) else {
                return Some(format!("actor {number} ({archetype}) has no object"));
            };
            if !handle.is_opened_as(client, known.opened) {
                return Some(format!("the opening of actor {number} ({archetype})"));
            }
            let differs = |(property, values): &(&ObjectId, &Vec<&Attribute>)| {
                !handle.holds(client, &recording.key(**property), values)
            };
            let (property, values) = known.values.iter().find(differs)?;
            let (name, kinds) = (recording.name(*property), lacks::kinds(values));
            Some(format!("{name} ({kinds}) of actor {number} ({archetype})"))
        })
    }
}
