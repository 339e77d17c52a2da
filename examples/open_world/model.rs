//! The replicated classes of the world, and the checks of the clients' copies.
//!
//! *Invariant:* positions are whole multiples of [`STEP`], so a client has exactly the values of the server.

use repl::prelude::*;

/// A point in the plane, in metres.
pub(crate) type Point = [f32; 2];

/// The step to which positions are rounded, in metres.
pub(crate) const STEP: f32 = 0.02;

/// How many ticks there are between the updates of far objects.
pub(crate) const FAR_TICKS: u16 = 3;

/// How many teams share the connections.
pub(crate) const TEAMS: u32 = 8;

/// The functions that the example needs for every class.
pub(crate) trait Thing: Replicated {
    /// The distance in metres up to which objects of the class are seen. `None` if distance does not matter.
    const SIGHT: Option<f32> = None;

    /// Whether connections that are farther away than half the sight get changes only in every
    /// [`FAR_TICKS`]th tick.
    const IS_SLOW_WHEN_FAR: bool = false;

    /// Returns the position of the object. Classes that are not seen by distance return zeros.
    fn position(&self) -> Point {
        [0.0; 2]
    }

    /// Returns one number (a digest) for the value of each property that every client with the object
    /// receives, and zeros for the rest of the array. Each coordinate of a position counts as a property of
    /// its own, because each element of a fixed array is sent alone when it changes.
    fn digests(&self) -> [u64; 4];

    /// Returns the name of the first property that is wrong in a client's copy. `owns` says whether the
    /// client owns the object.
    fn first_difference(&self, replica: &Self, owns: bool) -> Option<&'static str>;
}

/// The figure of a player.
#[derive(Replicated, Default)]
pub(crate) struct Avatar {
    #[replicated(location, quantize(step = 0.02, range = -4096.0..=4096.0))]
    pub(crate) position: Point,
    #[replicated]
    pub(crate) health: u8,
}

/// A creature, wild or tame. Tame creatures have owners, who see them everywhere.
#[derive(Replicated, Default)]
pub(crate) struct Creature {
    #[replicated(location, quantize(step = 0.02, range = -4096.0..=4096.0))]
    pub(crate) position: Point,
    #[replicated]
    pub(crate) health: u8,
    /// A canary (a value for which packets are searched) for all clients that see the creature. A new goal of
    /// the creature changes it.
    #[replicated]
    pub(crate) mark: u128,
    /// A canary only for the owner. A new goal of the creature changes it.
    #[replicated(condition = OwnerOnly)]
    pub(crate) secret: u128,
}

/// A thing that lies on the ground until somebody takes it.
#[derive(Replicated, Default)]
pub(crate) struct Loot {
    #[replicated(location, quantize(step = 0.02, range = -4096.0..=4096.0))]
    pub(crate) position: Point,
    #[replicated]
    pub(crate) kind: u16,
    #[replicated]
    pub(crate) count: u16,
}

/// A building with a door. It hardly ever changes.
#[derive(Replicated, Default)]
pub(crate) struct Structure {
    #[replicated(location, quantize(step = 0.02, range = -4096.0..=4096.0))]
    pub(crate) position: Point,
    #[replicated]
    pub(crate) kind: u16,
    #[replicated]
    pub(crate) is_open: bool,
    #[replicated]
    pub(crate) damage: u8,
}

/// A lantern that an avatar carries. Clients that see the avatar see the lantern.
#[derive(Replicated, Default)]
pub(crate) struct Lantern {
    #[replicated]
    pub(crate) light: u8,
    /// A canary for everyone who sees the avatar. It changes together with the light.
    #[replicated]
    pub(crate) mark: u128,
}

/// The pack of an avatar: a subobject of the avatar, which only the avatar's owner sees.
#[derive(Replicated, Default)]
pub(crate) struct Pack {
    #[replicated]
    pub(crate) coins: u16,
    /// A canary only for the owner of the avatar.
    #[replicated]
    pub(crate) secret: u128,
}

/// A fire in a structure. It is a subobject that can appear and disappear while the structure remains.
/// Clients that see the structure see the fire.
#[derive(Replicated, Default)]
pub(crate) struct Fire {
    #[replicated]
    pub(crate) heat: u8,
    /// A canary for everyone who sees the structure. It changes together with the heat.
    #[replicated]
    pub(crate) mark: u128,
}

/// The journal of a player, which only its owner sees.
#[derive(Replicated, Default)]
pub(crate) struct Journal {
    #[replicated]
    pub(crate) pages: u16,
    /// A canary only for the owner, because no other client sees the journal.
    #[replicated]
    pub(crate) secret: u128,
}

/// The banner of a team, which only the members of the team see.
#[derive(Replicated, Default)]
pub(crate) struct Banner {
    #[replicated]
    pub(crate) score: u32,
    /// A canary only for the members of the team.
    #[replicated]
    pub(crate) plan: u128,
}

/// The state that everyone sees.
#[derive(Replicated, Default)]
pub(crate) struct Realm {
    #[replicated]
    pub(crate) seconds: u32,
}

/// Returns the point whose coordinates are the nearest whole multiples of [`STEP`].
pub(crate) fn rounded(point: Point) -> Point {
    point.map(|coordinate| (coordinate / STEP).round() * STEP)
}

fn steps(point: Point) -> [i32; 2] {
    point.map(|coordinate| (coordinate / STEP).round() as i32)
}

/// Returns the digests of an object: the steps of its position, and those of two other properties.
fn digests(position: Point, one: u64, other: u64) -> [u64; 4] {
    let [x, y] = steps(position);
    [x as u64, y as u64, one, other]
}

/// Returns the name of the first property that is wrong.
fn first_wrong<const N: usize>(checks: [(&'static str, bool); N]) -> Option<&'static str> {
    checks.into_iter().find(|(_, is_right)| !is_right).map(|(name, _)| name)
}

impl Thing for Avatar {
    const SIGHT: Option<f32> = Some(150.0);
    const IS_SLOW_WHEN_FAR: bool = true;

    fn position(&self) -> Point {
        self.position
    }

    fn digests(&self) -> [u64; 4] {
        digests(self.position, self.health.into(), 0)
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([
            ("position", steps(self.position) == steps(replica.position)),
            ("health", self.health == replica.health),
        ])
    }
}

impl Thing for Creature {
    const SIGHT: Option<f32> = Some(120.0);
    const IS_SLOW_WHEN_FAR: bool = true;

    fn position(&self) -> Point {
        self.position
    }

    fn digests(&self) -> [u64; 4] {
        digests(self.position, self.health.into(), self.mark as u64)
    }

    fn first_difference(&self, replica: &Self, owns: bool) -> Option<&'static str> {
        first_wrong([
            ("position", steps(self.position) == steps(replica.position)),
            ("health", self.health == replica.health),
            ("mark", self.mark == replica.mark),
            ("secret", replica.secret == if owns { self.secret } else { 0 }),
        ])
    }
}

impl Thing for Loot {
    const SIGHT: Option<f32> = Some(60.0);

    fn position(&self) -> Point {
        self.position
    }

    fn digests(&self) -> [u64; 4] {
        digests(self.position, self.kind.into(), self.count.into())
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([
            ("position", steps(self.position) == steps(replica.position)),
            ("kind", self.kind == replica.kind),
            ("count", self.count == replica.count),
        ])
    }
}

impl Thing for Structure {
    const SIGHT: Option<f32> = Some(200.0);

    fn position(&self) -> Point {
        self.position
    }

    fn digests(&self) -> [u64; 4] {
        digests(self.position, self.is_open.into(), u64::from(self.kind) << 8 | u64::from(self.damage))
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([
            ("position", steps(self.position) == steps(replica.position)),
            ("kind", self.kind == replica.kind),
            ("is_open", self.is_open == replica.is_open),
            ("damage", self.damage == replica.damage),
        ])
    }
}

impl Thing for Lantern {
    fn digests(&self) -> [u64; 4] {
        [self.light.into(), self.mark as u64, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("light", self.light == replica.light), ("mark", self.mark == replica.mark)])
    }
}

impl Thing for Pack {
    fn digests(&self) -> [u64; 4] {
        [self.coins.into(), self.secret as u64, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("coins", self.coins == replica.coins), ("secret", self.secret == replica.secret)])
    }
}

impl Thing for Fire {
    fn digests(&self) -> [u64; 4] {
        [self.heat.into(), self.mark as u64, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("heat", self.heat == replica.heat), ("mark", self.mark == replica.mark)])
    }
}

impl Thing for Journal {
    fn digests(&self) -> [u64; 4] {
        [self.pages.into(), self.secret as u64, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("pages", self.pages == replica.pages), ("secret", self.secret == replica.secret)])
    }
}

impl Thing for Banner {
    fn digests(&self) -> [u64; 4] {
        [self.score.into(), self.plan as u64, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("score", self.score == replica.score), ("plan", self.plan == replica.plan)])
    }
}

impl Thing for Realm {
    fn digests(&self) -> [u64; 4] {
        [self.seconds.into(), 0, 0, 0]
    }

    fn first_difference(&self, replica: &Self, _: bool) -> Option<&'static str> {
        first_wrong([("seconds", self.seconds == replica.seconds)])
    }
}

/// Registers all classes at a server or a client.
pub(crate) fn register(side: &mut impl Register) {
    side.register::<Avatar>().register::<Creature>().register::<Loot>().register::<Structure>();
    side.register::<Lantern>().register::<Pack>().register::<Fire>();
    side.register::<Journal>().register::<Banner>().register::<Realm>();
}

/// Sets the area of each class that is seen by distance.
pub(crate) fn set_areas(server: &mut Server) {
    fn set_area<T: Thing + Located>(server: &mut Server) {
        let Some(radius) = T::SIGHT else { return };
        let area = Area::within(radius);
        let area = if T::IS_SLOW_WHEN_FAR { area.slower_beyond(radius / 2.0, FAR_TICKS) } else { area };
        server.class::<T>().set_area(area);
    }
    set_area::<Avatar>(server);
    set_area::<Creature>(server);
    set_area::<Loot>(server);
    set_area::<Structure>(server);
}

/// The greatest distance at which objects of any class are seen, in metres.
pub(crate) const MOST_SIGHT: f32 = 200.0;

/// Returns how many objects a client has.
pub(crate) fn count_at_client(client: &Client) -> usize {
    fn of<T: Thing>(client: &Client) -> usize {
        client.objects::<T>().count()
    }
    of::<Avatar>(client)
        + of::<Creature>(client)
        + of::<Loot>(client)
        + of::<Structure>(client)
        + of::<Lantern>(client)
        + of::<Pack>(client)
        + of::<Fire>(client)
        + of::<Journal>(client)
        + of::<Banner>(client)
        + of::<Realm>(client)
}
