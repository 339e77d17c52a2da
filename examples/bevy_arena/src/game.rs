//! The rules of the game, and the replicated components. Server and clients share this file.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_time::Time;
use repl::prelude::*;
use repl_bevy::{
    Called, Calls, ConnectedClient, FromClient, Input, MemberOf, OwnedBy, Recipients, ReplAppExt, Replicate,
    Simulate, Simulated, ToClients, Viewpoint,
};

const METRES_PER_SECOND: f32 = 4.0;
/// The length of each side of the field, in metres.
pub const FIELD: f32 = 60.0;

/// The direction in which a player walks.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub struct Steer(#[replicated(range = -1..=1)] pub [i8; 2]);

/// The position of an entity, in metres.
#[derive(Component, Replicated, Interpolate, Clone, Debug, Default, PartialEq)]
pub struct Position(#[replicated] pub [f32; 2]);

/// A player.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
pub struct Player {
    /// The number of the player, from 1 on.
    #[replicated]
    pub number: u16,
    /// How many coins the player has found.
    #[replicated]
    pub score: u32,
}

/// The things that a player has found.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
pub struct Bag {
    /// The things, in the order in which they were found.
    #[replicated]
    pub items: FastArray<Item>,
}

/// A thing in a bag.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// The kind of the thing.
    #[replicated]
    pub kind: u8,
}

/// The team of a player. Only the server uses it.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Team(pub u32);

/// A plan that only the team of the player knows.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
pub struct Plan(#[replicated] pub u16);

/// A coin. A player who walks over it collects it.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
pub struct Coin;

/// A hat, which is a child entity of its player.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
pub struct Hat;

/// A line of the chat.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub struct Chat(#[replicated(max_len = 200)] pub String);

#[rpcs]
impl Player {
    #[rpc(server, reliable, per_second = 10)]
    pub fn wear_hat();

    #[rpc(multicast, unreliable)]
    fn cheer(points: u32);
}

/// Registers everything that is replicated.
pub fn share(app: &mut App) {
    app.replicate::<Player>().replicate::<Bag>().replicate::<Coin>().replicate::<Hat>();
    app.replicate_to::<Plan, Team>(|team| Group(team.0).into());
    app.replicate::<Position>().predict::<Position>().interpolate::<Position>(4);
    app.relevancy(Area::within(40.0).flat(), |position: &Position| position.0);
    app.input::<Steer>().message::<Chat>(Channel::Ordered).calls::<Player>();
    app.add_systems(Simulate, walk);
}

fn walk(mut walkers: Query<(&Input<Steer>, &mut Position), With<Simulated>>, time: Res<Time>) {
    for (input, mut position) in &mut walkers {
        let way = input.get().map_or([0, 0], |steer| steer.0);
        for (at, way) in position.0.iter_mut().zip(way) {
            *at = (*at + f32::from(way) * METRES_PER_SECOND * time.delta_secs()).clamp(0.0, FIELD);
        }
    }
}

/// Adds the systems that run only on the server.
pub fn referee(app: &mut App) {
    app.add_observer(welcome).add_observer(dress);
    app.add_systems(bevy_app::FixedUpdate, (collect, scatter, pass_on));
}

fn welcome(added: On<Add<ConnectedClient>>, mut last: Local<u16>, mut commands: Commands) {
    *last += 1;
    let number = *last;
    let team = Team(u32::from(number) % 2);
    commands.entity(added.entity).insert(MemberOf(vec![Group(team.0)]));
    let place = Position([f32::from(number) * 7.0 % FIELD, 20.0]);
    commands.spawn((
        (OwnedBy(added.entity), Viewpoint),
        Player { number, score: 0 },
        place,
        Bag::default(),
        team,
        Plan(number * 100),
    ));
}

fn dress(called: On<Called<Player>>, hats: Query<&ChildOf, With<Hat>>, mut commands: Commands) {
    if matches!(called.call, PlayerCall::WearHat) && hats.iter().all(|hat| hat.parent() != called.entity) {
        commands.spawn((Replicate, Hat, ChildOf(called.entity)));
    }
}

fn collect(
    mut players: Query<(Entity, &Position, &mut Player, &mut Bag)>,
    coins: Query<(Entity, &Position), With<Coin>>,
    mut calls: Calls,
    mut commands: Commands,
) {
    for (coin, at) in &coins {
        let near = |here: &Position| here.0.iter().zip(at.0).all(|(here, at)| (here - at).abs() < 1.0);
        if let Some((winner, _, mut player, mut bag)) = players.iter_mut().find(|(_, here, ..)| near(here)) {
            player.score += 1;
            bag.items.push(Item { kind: (player.score % 5) as u8 });
            calls.of::<Player>(winner).cheer(player.score).ok();
            commands.entity(coin).despawn();
        }
    }
}

fn scatter(coins: Query<(), With<Coin>>, mut seed: Local<u32>, mut commands: Commands) {
    for _ in coins.iter().count()..60 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let place = [*seed >> 8, *seed >> 20].map(|bits| (bits % 600) as f32 / 600.0 * FIELD);
        commands.spawn((Replicate, Coin, Position(place)));
    }
}

fn pass_on(mut said: MessageReader<FromClient<Chat>>, mut all: MessageWriter<ToClients<Chat>>) {
    all.write_batch(said.read().map(|from| ToClients { to: Recipients::All, message: from.message.clone() }));
}
