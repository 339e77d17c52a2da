//! Random worlds against the naive model, over links that lose packets.

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Group, Position};

use super::{Creature, RADIUS, creature, room_with};
use crate::relevancy::model::{Kind, Model, NEAR_RADIUS, Object, Viewer};
use crate::support::Room;

const GUESTS: usize = 4;
/// How far creatures and viewpoints are from zero, at most.
const EXTENT: f32 = 300.0;

/// Says who sees a creature, by its values and by everything that a function may read of a viewer.
fn verdict(
    creature: &Creature,
    is_owner: bool,
    is_in: impl Fn(u32) -> bool,
    mut viewpoints: impl Iterator<Item = [f32; 2]>,
) -> bool {
    let [x, y] = creature.position;
    match creature.health % 4 {
        0 => is_in(creature.health / 4 % 3),
        1 => viewpoints.any(|[at_x, at_y]| (x - at_x).hypot(y - at_y) < 150.0),
        2 => x > 0.0,
        _ => is_owner || is_in(0) && is_in(1),
    }
}

fn is_seen(creature: &Creature, viewer: &repl::Viewer<'_>) -> bool {
    let viewpoints = viewer.viewpoints.iter().map(|&[x, y, _]| [x, y]);
    verdict(creature, viewer.is_owner, |group| viewer.is_in_group(Group(group)), viewpoints)
}

/// Returns whether a function decides who sees the creatures of a world.
fn has_function(seed: u64) -> bool {
    seed % 5 < 3 || seed >= 60
}

struct World {
    room: Room,
    model: Model,
    /// Whether the class has a function that decides who sees its objects.
    has_function: bool,
    rng: Rng,
    references: Vec<ObjectRef<Creature>>,
    loss: f64,
    /// What each client showed after the last tick.
    shown: Vec<Vec<Option<Creature>>>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let has_far = !seed.is_multiple_of(3);
        let mut area = Area::within(RADIUS).flat();
        if has_far {
            area = area.near_within(NEAR_RADIUS);
        }
        if seed % 3 == 2 {
            area = area.slower_beyond(40.0, 3).slower_beyond(80.0, 5);
        }
        let mut room = room_with(area, GUESTS);
        let has_function = has_function(seed);
        if has_function {
            room.server.class::<Creature>().set_relevancy_by(is_seen);
        }
        let model = Model { viewers: vec![Viewer::default(); GUESTS], has_far, ..Model::default() };
        let loss = [0.0, 0.1, 0.4][rng.below(3) as usize];
        let (references, shown) = (Vec::new(), vec![Vec::new(); GUESTS]);
        Self { room, model, has_function, rng, references, loss, shown }
    }

    fn point(&mut self) -> [f32; 2] {
        [0, 1].map(|_| (self.rng.below(2 * EXTENT as u64) as f32) - EXTENT)
    }

    fn any_object(&mut self) -> Option<usize> {
        let all: Vec<usize> = self.model.objects.keys().copied().collect();
        (!all.is_empty()).then(|| all[self.rng.below(all.len() as u64) as usize])
    }

    fn spawn(&mut self) {
        let [x, y] = self.point();
        self.references.push(self.room.server.spawn(creature(x, y)));
        let object = Object {
            relevancy: match self.has_function {
                true => Kind::All(vec![Kind::Located, Kind::Computed]),
                false => Kind::Located,
            },
            owner: None,
            owner_object: None,
            audience: Kind::Always,
            is_subobject: false,
            hidden_from: Default::default(),
            positions: [[x, y]; 3],
        };
        self.model.objects.insert(self.references.len() - 1, object);
    }

    /// Returns a combination of groups, owners and the relevancies in `others`, at most `depth` levels deep.
    fn combination(&mut self, others: &[Kind], depth: u32) -> Kind {
        let choices = if depth == 0 { 5 } else { 9 };
        match self.rng.below(choices) {
            0 => Kind::OwnerOnly,
            1 => [Kind::Nobody, Kind::Always][self.rng.below(2) as usize].clone(),
            2..5 if !others.is_empty() && self.rng.chance(0.5) => {
                others[self.rng.below(others.len() as u64) as usize].clone()
            }
            2..5 => Kind::Group(self.rng.below(3) as u32),
            5 => Kind::Not(Box::new(self.combination(others, depth - 1))),
            kind => {
                let count = self.rng.below(4);
                let parts = (0..count).map(|_| self.combination(others, depth - 1)).collect();
                if kind == 6 { Kind::All(parts) } else { Kind::Any(parts) }
            }
        }
    }

    /// Changes one thing in the world and in the model.
    fn change(&mut self) {
        let guest = self.rng.below(GUESTS as u64) as usize;
        let id = self.room.guests[guest].id;
        let kind = self.rng.below(18);
        if kind == 0 {
            return self.spawn();
        }
        if kind == 1 {
            let count = self.rng.below(3);
            let viewpoints: Vec<[f32; 2]> = (0..count).map(|_| self.point()).collect();
            let points: Vec<Position> = viewpoints.iter().map(|[x, y]| [*x, *y, 5.0]).collect();
            self.room.server.connection(id).set_viewpoints(&points);
            return self.model.set_viewpoints(guest, &viewpoints);
        }
        if kind == 2 {
            let group = self.rng.below(3) as u32;
            if self.model.viewers[guest].groups.remove(&group) {
                self.room.server.connection(id).leave_group(Group(group));
            } else {
                self.model.viewers[guest].groups.insert(group);
                self.room.server.connection(id).join_group(Group(group));
            }
            return;
        }
        let Some(object) = self.any_object() else { return };
        let reference = self.references[object];
        let is_subobject = self.model.objects[&object].is_subobject;
        match kind {
            4 | 6 | 17 if is_subobject => {}
            3 => {
                self.room.server.despawn(reference);
                self.model.remove(object);
            }
            4 => {
                let owner = self.rng.chance(0.7).then_some(guest);
                self.room.server.object(reference).set_owner(owner.map(|_| id));
                let entry = self.model.objects.get_mut(&object).expect("it exists");
                (entry.owner, entry.owner_object) = (owner, None);
            }
            5 => {
                let hidden = &mut self.model.objects.get_mut(&object).expect("it exists").hidden_from;
                let is_visible = hidden.remove(&guest) || !hidden.insert(guest);
                self.room.server.object(reference).set_visible(id, is_visible);
            }
            6 => {
                let other = self.any_object().expect("there is one");
                let kind = match self.rng.below(10) {
                    0 => Kind::Always,
                    1 => Kind::OwnerOnly,
                    2 => Kind::Group(self.rng.below(3) as u32),
                    4 => Kind::Nobody,
                    7.. if self.has_function => self.combination(&[Kind::Located, Kind::Computed], 2),
                    7.. => self.combination(&[Kind::Located], 2),
                    3 if !self.model.is_attached(other, object) => Kind::AttachedTo(other),
                    _ => Kind::Located,
                };
                let references = &self.references;
                self.room
                    .server
                    .object(reference)
                    .set_relevancy(kind.relevancy(&|at| references[at].erase()));
                self.model.set_relevancy(object, kind);
            }
            12 => {
                let dormancy = if self.rng.chance(0.7) { Dormancy::All } else { Dormancy::Awake };
                self.room.server.object(reference).set_dormancy(dormancy);
            }
            13 => {
                let budget = [2_000, 20_000, usize::MAX][self.rng.below(3) as usize];
                self.room.server.connection(id).set_budget(budget);
                self.room.server.object(reference).set_priority(Some(1.0 + self.rng.below(9) as f32));
            }
            14 => match self.rng.chance(0.3) {
                true => _ = self.room.server.connection(id).pause(),
                false => _ = self.room.server.connection(id).resume(),
            },
            15 => {
                let audience = match self.rng.below(5) {
                    0 | 1 => Kind::Always,
                    2 if self.has_function => self.combination(&[Kind::Computed], 1),
                    _ => self.combination(&[], 1),
                };
                self.room.server.object(reference).set_audience(audience.relevancy(&|_| ObjectRef::NULL));
                self.model.objects.get_mut(&object).expect("it exists").audience = audience;
            }
            16 => {
                let [x, y] = self.point();
                let child = self.room.server.object(reference).spawn_subobject(creature(x, y));
                self.references.push(child.expect("the parent exists"));
                let entry = Object {
                    relevancy: Kind::AttachedTo(object),
                    owner: None,
                    owner_object: Some(object),
                    audience: Kind::Always,
                    is_subobject: true,
                    hidden_from: Default::default(),
                    positions: [[x, y]; 3],
                };
                self.model.objects.insert(self.references.len() - 1, entry);
            }
            17 => {
                let other = self.any_object().expect("there is one");
                if !self.model.is_owned_by(other, object) {
                    self.room.server.object(reference).set_owner_object(self.references[other]);
                    let entry = self.model.objects.get_mut(&object).expect("it exists");
                    (entry.owner, entry.owner_object) = (None, Some(other));
                }
            }
            _ => {
                let [x, y] = self.point();
                let entry = self.model.objects.get_mut(&object).expect("it exists");
                let [before_x, before_y] = entry.positions[2];
                // Most moves are short, so that objects cross from a cell to the next.
                let share = if kind < 11 { 0.1 } else { 1.0 };
                entry.positions[2] = [before_x + (x - before_x) * share, before_y + (y - before_y) * share];
                let creature = &mut self.room.server[reference];
                creature.position = entry.positions[2];
                creature.health += 1;
                creature.secret += 1;
                creature.detail += 1;
            }
        }
    }

    fn assert_equal(&mut self) {
        self.model.refresh();
        for (guest, entry) in self.room.guests.iter().enumerate() {
            for &object in self.model.objects.keys() {
                let is_relevant =
                    self.room.server.object_info(self.references[object]).is_relevant_to(entry.id);
                assert_eq!(
                    is_relevant,
                    self.model.sees(guest, object),
                    "guest {guest}, object {object}: {:?}",
                    self.model.objects[&object]
                );
            }
        }
    }

    /// Calls the function for each viewer and each object whose relevancy or audience asks for it.
    fn call_function(&mut self) {
        let asks = |object: &Object| object.relevancy.is_computed() || object.audience.is_computed();
        let asking: Vec<usize> =
            self.model.objects.iter().filter(|(_, o)| asks(o)).map(|(&at, _)| at).collect();
        for (guest, &object) in (0..GUESTS).flat_map(|guest| asking.iter().map(move |object| (guest, object)))
        {
            let viewer = &self.model.viewers[guest];
            let is_owner = self.model.owner(object) == Some(guest);
            let is_in = |group| viewer.groups.contains(&group);
            let creature = &self.room.server[self.references[object]];
            if verdict(creature, is_owner, is_in, viewer.newest_viewpoints.iter().copied()) {
                self.model.verdicts.insert((guest, object));
            } else {
                self.model.verdicts.remove(&(guest, object));
            }
        }
    }

    /// Runs one tick. Some packets are lost in each direction.
    fn tick(&mut self) {
        let packets = self.room.tick();
        self.model.tick();
        self.call_function();
        self.assert_equal();
        for (guest, packets) in packets.into_iter().enumerate() {
            let arriving: Vec<_> = packets.into_iter().filter(|_| !self.rng.chance(self.loss)).collect();
            self.room.deliver(guest, &arriving);
            let replies = self.room.replies(guest);
            let arriving: Vec<_> = replies.into_iter().filter(|_| !self.rng.chance(self.loss)).collect();
            self.room.hear(guest, &arriving);
        }
        self.assert_no_leak();
    }

    /// Asserts that a client shows no new value of an object that it does not see, and no new `NearOnly`
    /// value of a far object.
    fn assert_no_leak(&mut self) {
        for guest in 0..GUESTS {
            let shown: Vec<Option<Creature>> = self
                .references
                .iter()
                .map(|&object| self.room.guests[guest].client.get(object).cloned())
                .collect();
            for (object, now) in shown.iter().enumerate() {
                let is_seen = self.model.objects.contains_key(&object) && self.model.sees(guest, object);
                let before = self.shown[guest].get(object).cloned().flatten();
                assert!(is_seen || now.is_none() || *now == before, "guest {guest} got object {object}");
                let detail = |shown: &Option<Creature>| shown.as_ref().map_or(0, |creature| creature.detail);
                let is_far = is_seen && self.model.is_far(guest, object);
                let has_news = ![0, detail(&before)].contains(&detail(now));
                assert!(!is_far || !has_news, "guest {guest} got the detail of object {object}");
            }
            self.shown[guest] = shown;
        }
    }

    /// Waits until everything has arrived, and compares all clients with the model.
    fn settle(&mut self) {
        self.loss = 0.0;
        for guest in &self.room.guests {
            self.room.server.connection(guest.id).resume();
            self.room.server.connection(guest.id).set_budget(usize::MAX);
        }
        (0..120).for_each(|_| self.tick());
        for guest in 0..GUESTS {
            for (object, &reference) in self.references.iter().enumerate() {
                let is_seen = self.model.objects.contains_key(&object) && self.model.sees(guest, object);
                let replica = self.room.guests[guest].client.get(reference);
                assert_eq!(replica.is_some(), is_seen, "guest {guest}, object {object}");
                if let Some(replica) = replica {
                    let live = &self.room.server[reference];
                    assert_eq!((replica.position, replica.health), (live.position, live.health));
                    let is_far = self.model.is_far(guest, object);
                    assert!(is_far || replica.detail == live.detail, "guest {guest}, object {object}");
                    let is_asleep = self.room.server.object_info(reference).dormancy() == Some(Dormancy::All);
                    assert_eq!(
                        self.room.guests[guest].client.object_info(reference).is_asleep(),
                        is_asleep,
                        "object {object}"
                    );
                }
            }
        }
    }
}

/// Runs a random world, and compares it with the model after each change and each tick.
fn run(seed: u64, objects: usize, ticks: u64) {
    let mut world = World::new(seed);
    (0..objects).for_each(|_| world.spawn());
    for tick in 0..ticks {
        for _ in 0..world.rng.below(6) {
            world.change();
            world.assert_equal();
        }
        world.tick();
        if tick % 60 == 59 && world.rng.chance(0.5) {
            let loss = world.loss;
            world.settle();
            world.loss = loss;
        }
    }
    world.settle();
}

#[test]
fn r24_w20_the_grid_equals_distances_to_each_cell_and_clients_have_what_they_see() {
    (0..60).for_each(|seed| run(seed, 20, 120));
}

#[test]
fn s230_s231_combinations_and_functions_equal_the_naive_model() {
    (60..260).for_each(|seed| run(seed, 12, 40));
}
