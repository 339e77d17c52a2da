//! Reported: <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/issues/2524> (and issues
//! 1953 and 2672 there).
//!
//! Hiding one object and showing another in one frame throws, or a hidden object remains visible. Users
//! expect that only the state at the end of the tick counts. The tests hide objects by all means, both
//! spawned objects and objects of a level. What a client sees is decided once in each tick. So if a change of
//! visibility is undone before the tick, nothing is sent and no event is reported.

use repl::prelude::*;
use repl::{Area, Audience};

use crate::step_losing;
use crate::support::Room;

#[derive(Replicated, Default)]
struct Thing {
    #[replicated]
    number: u32,
    #[replicated(location)]
    at: [f32; 3],
    #[replicated(condition = OwnerOnly)]
    secret: u32,
    mesh: u32,
}

const TEAM: Group = Group(4);
const OTHERS: Group = Group(9);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    Visible,
    Group,
    Member,
    Owner,
    Nobody,
    Area,
    Viewpoint,
    Attached,
    Audience,
}

const MEANS: [Means; 9] = [
    Means::Visible,
    Means::Group,
    Means::Member,
    Means::Owner,
    Means::Nobody,
    Means::Area,
    Means::Viewpoint,
    Means::Attached,
    Means::Audience,
];

/// A room with a client, and the means by which the test shows things to the client and hides them.
struct Stage {
    room: Room,
    means: Means,
    /// Whether the things are static objects, which the client has placed.
    is_placed: bool,
    things: Vec<ObjectRef<Thing>>,
    /// Objects to which things can be attached: the client sees only the second one.
    carriers: [ObjectRef<Thing>; 2],
}

impl Stage {
    fn new(means: Means, are_static: bool, shown: [bool; 2]) -> Self {
        let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Thing>());
        room.server.register::<Thing>().class::<Thing>().set_area(Area::within(100.0));
        let id = room.enter();
        let carriers = [Relevancy::Nobody, Relevancy::Always].map(|relevancy| {
            let carrier = room.server.spawn(Thing::default());
            room.server.object(carrier).set_relevancy(relevancy);
            carrier
        });
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]).join_group(TEAM);
        let things = (0..2).map(|index| spawn(&mut room, index, are_static)).collect();
        let mut stage = Self { room, means, is_placed: are_static, things, carriers };
        (0..2).for_each(|index| stage.prepare(index));
        (0..2).for_each(|index| stage.set(index, shown[index]));
        stage.room.settle();
        (0..2).for_each(|index| assert_eq!(stage.is_shown(index), shown[index], "{means:?} at first"));
        stage.room.polled(0);
        stage
    }

    /// Prepares a thing so that only the means decides whether the client sees it.
    fn prepare(&mut self, index: usize) {
        let relevancy = match self.means {
            Means::Member => Relevancy::Group(TEAM),
            Means::Owner => Relevancy::OwnerOnly,
            Means::Area | Means::Viewpoint => Relevancy::Located,
            _ => Relevancy::Always,
        };
        self.room.server.object(self.things[index]).set_relevancy(relevancy);
    }

    /// Shows a thing or hides it. Some means show or hide all things at the same time.
    fn set(&mut self, index: usize, shown: bool) {
        let (thing, id) = (self.things[index], self.room.guests[0].id);
        let server = &mut self.room.server;
        let group = if shown { TEAM } else { OTHERS };
        match self.means {
            Means::Visible => _ = server.object(thing).set_visible(id, shown),
            Means::Group => _ = server.object(thing).set_relevancy(Relevancy::Group(group)),
            Means::Member if shown => _ = server.connection(id).join_group(TEAM),
            Means::Member => _ = server.connection(id).leave_group(TEAM),
            Means::Owner => _ = server.object(thing).set_owner(shown.then_some(id)),
            Means::Nobody if shown => _ = server.object(thing).set_relevancy(Relevancy::Always),
            Means::Nobody => _ = server.object(thing).set_relevancy(Relevancy::Nobody),
            Means::Area => server[thing].at[0] = if shown { 0.0 } else { 9_000.0 },
            Means::Viewpoint => {
                let place = [if shown { 0.0 } else { 9_000.0 }, 0.0, 0.0];
                server.connection(id).set_viewpoints(&[place]);
            }
            Means::Attached => {
                let carrier = self.carriers[usize::from(shown)];
                server.object(thing).set_relevancy(Relevancy::attached_to(carrier));
            }
            Means::Audience => _ = server.object(thing).set_audience(Audience::Group(group)),
        }
    }

    fn is_shown(&self, index: usize) -> bool {
        self.room.client().contains(self.things[index])
    }

    /// Returns whether the means shows or hides all things at the same time.
    fn sets_all(&self) -> bool {
        matches!(self.means, Means::Member | Means::Viewpoint)
    }
}

fn spawn(room: &mut Room, index: u32, is_static: bool) -> ObjectRef<Thing> {
    let thing = |mesh| Thing { number: index + 1, mesh, ..Thing::default() };
    if !is_static {
        return room.server.spawn(thing(0));
    }
    let path = format!("level/{index}");
    room.guests[0].client.statics().place(&path, thing(70 + index));
    room.server.statics().spawn(&path, thing(0))
}

/// Returns how many of the updates report that a thing appeared or disappeared.
fn count(updates: &[(ObjectRef<()>, UpdateKind)], thing: ObjectRef<Thing>) -> usize {
    let is_turn = |what: &UpdateKind| {
        matches!(
            what,
            UpdateKind::Spawned | UpdateKind::Despawned(_) | UpdateKind::Bound(_) | UpdateKind::Unbound(_)
        )
    };
    updates.iter().filter(|(object, what)| *object == thing.erase() && is_turn(what)).count()
}

#[test]
fn the_state_at_the_end_of_the_tick_counts() {
    const ACTS: [&[(usize, bool)]; 6] = [
        &[(0, false), (1, true)],
        &[(1, true), (0, false)],
        &[(0, true), (1, false)],
        &[(0, false), (0, true)],
        &[(1, true), (1, false)],
        &[(0, false), (0, true), (0, false), (1, true), (1, false), (1, true)],
    ];
    for means in MEANS {
        for (are_static, loses) in [(false, false), (false, true), (true, false), (true, true)] {
            for shown in [[true, false], [true, true], [false, false]] {
                if matches!(means, Means::Member | Means::Viewpoint) && shown[0] != shown[1] {
                    continue;
                }
                for acts in ACTS {
                    let case =
                        format!("{means:?}, static {are_static}, lost {loses}, {acts:?} from {shown:?}");
                    run(&mut Stage::new(means, are_static, shown), acts, shown, loses, &case);
                }
            }
        }
    }
}

fn run(stage: &mut Stage, acts: &[(usize, bool)], shown: [bool; 2], loses: bool, case: &str) {
    let mut now = shown;
    for &(index, is_shown) in acts {
        stage.set(index, is_shown);
        if stage.sets_all() {
            now = [is_shown; 2];
        }
        now[index] = is_shown;
    }
    (0..3).for_each(|_| step_losing(&mut stage.room, loses, false));
    stage.room.settle();
    let updates = stage.room.polled(0);
    for index in 0..2 {
        assert_eq!(stage.is_shown(index), now[index], "{case}: {updates:?}");
        let expected = usize::from(now[index] != shown[index]);
        assert_eq!(count(&updates, stage.things[index]), expected, "{case}: {updates:?}");
        if let Some(copy) = stage.room.client().get(stage.things[index]) {
            let mesh = if stage.is_placed { 70 + index as u32 } else { 0 };
            assert_eq!((copy.number, copy.mesh), (index as u32 + 1, mesh), "{case}");
        }
    }
}

#[test]
fn what_is_hidden_and_shown_again_in_a_tick_costs_nothing() {
    for means in MEANS {
        for are_static in [false, true] {
            let mut stage = Stage::new(means, are_static, [true, true]);
            let quiet: Vec<usize> = (0..20).map(|_| stage.room.step()).collect();
            for _ in 0..20 {
                stage.set(0, false);
                stage.set(1, false);
                stage.set(1, true);
                stage.set(0, true);
                let bytes = stage.room.step();
                assert!(quiet.contains(&bytes), "{means:?}: {bytes} bytes, and {quiet:?} without it");
            }
            assert_eq!(stage.room.polled(0), [], "{means:?}");
        }
    }
}

#[test]
fn an_object_that_is_given_away_and_back_in_a_tick_tells_nobody() {
    let mut stage = Stage::new(Means::Nobody, false, [true, true]);
    let (thing, id) = (stage.things[0], stage.room.guests[0].id);
    stage.room.server.object(thing).set_owner(Some(id));
    stage.room.server[thing].secret = 7;
    stage.room.settle();
    stage.room.polled(0);
    let quiet: Vec<usize> = (0..20).map(|_| stage.room.step()).collect();
    for _ in 0..20 {
        stage.room.server.object(thing).set_owner(None).set_owner(Some(id));
        let bytes = stage.room.step();
        assert!(quiet.contains(&bytes), "{bytes} bytes, and {quiet:?} without it");
    }
    assert_eq!(stage.room.polled(0), []);
    assert!(stage.room.client().object_info(thing).is_owner());
}

/// If an object is hidden when the packets are made, they contain nothing of it, not even changes from before
/// it was hidden.
#[test]
fn what_changed_before_an_object_is_hidden_is_not_sent() {
    let mut stage = Stage::new(Means::Visible, false, [true, true]);
    let (thing, id) = (stage.things[0], stage.room.guests[0].id);
    stage.room.server[thing].number = 0x5ec_2e7;
    stage.room.server.object(thing).set_visible(id, false).set_visible(id, true).set_visible(id, false);
    let packets = stage.room.tick_one();
    assert!(packets.iter().all(|packet| !crate::support::leaks(packet, &0x5ec_2e7_u32.to_le_bytes()[..3])));
    stage.room.deliver(0, &packets);
    stage.room.settle();
    assert!(!stage.is_shown(0) && stage.is_shown(1));
}
