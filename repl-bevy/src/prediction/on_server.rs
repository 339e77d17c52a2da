//! A server sets the inputs of entities from the inputs of their owners, simulates, and sends the results to
//! the owners as confirmed states.

use bevy_app::{App, FixedPostUpdate, FixedUpdate, PostUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time};
use repl::prelude::*;
use repl::{ArchetypeId, Relevancy};

use super::kind::Kinds;
use super::on_host;
use super::states::{Prediction, States};
use crate::net_entity::NetEntity;
use crate::server::clients::ConnectedClient;
use crate::server::host::HostPlayer;
use crate::server::replicate::Replicate;
use crate::server::settings::{OwnedBy, Owns};
use crate::server::state::ReplServer;
use crate::server::systems::is_paused;
use crate::sets::ReplSystems;
use crate::simulate::{Input, Simulate, Simulated, SimulationStep, simulate};

/// For at most this many ticks, an entity uses its last input if no newer input has arrived.
const PATIENCE: u64 = 30;

#[derive(Resource, Default)]
pub(super) struct ServerKinds(pub(super) Kinds);

/// On the entity of a client: the object by which the server sends confirmed states to this client.
#[derive(Component)]
struct Confirmations(ObjectRef<Prediction>);

pub(super) fn build(app: &mut App) {
    app.world_mut().resource_mut::<ReplServer>().register_external::<Prediction>();
    app.world_mut().register_required_components::<Replicate, Simulated>();
    app.init_schedule(Simulate)
        .init_resource::<ServerKinds>()
        .init_resource::<SimulationStep>()
        .add_systems(FixedUpdate, step.in_set(ReplSystems::Simulate))
        .add_systems(FixedPostUpdate, confirm.in_set(ReplSystems::Write))
        .add_systems(PostUpdate, confirm.run_if(is_paused).before(ReplSystems::Send));
    app.add_observer(
        |removed: On<Remove<Confirmations>>,
         objects: Query<&Confirmations>,
         mut server: ResMut<ReplServer>| {
            if let Ok(object) = objects.get(removed.entity) {
                server.despawn(object.0);
            }
        },
    );
}

pub(super) fn add_input<T: NetSerialize + Clone + Send + Sync>(app: &mut App) {
    app.world_mut().resource_mut::<ReplServer>().register_inputs::<T>();
    app.world_mut().register_required_components::<OwnedBy, Input<T>>();
    app.add_systems(FixedUpdate, give_inputs::<T>.after(on_host::make).before(ReplSystems::Simulate));
}

fn give_inputs<T: NetSerialize + Clone + Send + Sync>(
    mut server: ResMut<'_, ReplServer>,
    mut owned: Query<'_, '_, (Option<&OwnedBy>, &mut Input<T>)>,
) {
    let tick = server.next_tick();
    for (owner, mut input) in &mut owned {
        // An entity without an owner has no input.
        let connection = owner.and_then(|owner| server.connection_of(owner.0));
        input.0 = connection
            .and_then(|connection| server.connection(connection).input::<T>(tick).or_last_within(PATIENCE));
    }
}

fn step(world: &mut World) {
    let tick = world.resource::<ReplServer>().next_tick();
    let interval = world.resource::<Time<Fixed>>().timestep();
    simulate(world, SimulationStep { tick, is_replay: false }, interval);
}

type Row = (Entity, &'static ConnectedClient, Option<&'static Owns>, Option<&'static Confirmations>);

fn confirm(world: &mut World) {
    let mut clients = world.query_filtered::<Row, Without<HostPlayer>>();
    let kinds = &world.resource::<ServerKinds>().0;
    if kinds.is_empty() {
        return;
    }
    let states = clients.iter(world).map(|(client, connected, owns, object)| {
        let owned = owns.into_iter().flat_map(Owns::iter);
        let states = states(world, kinds, owned);
        (client, connected.connection, object.map(|object| object.0), states)
    });
    let states: Vec<_> = states.collect();
    let kinds = kinds.checksum();
    let interval = world.resource::<Time<Fixed>>().timestep();
    world.resource_scope(|world, mut server: Mut<'_, ReplServer>| {
        let tick = server.next_tick();
        for (client, connection, object, states) in states {
            let live = Prediction { kinds, interval, confirmed: Confirmed::new(tick, states) };
            if let Some(object) = object {
                server.external().compare(object, &live).ok();
            } else {
                let object = match server.external().try_spawn_from(ArchetypeId::default(), &live) {
                    Ok(object) => object,
                    Err(error) => {
                        server.refuse(error);
                        continue;
                    }
                };
                server.object(object).set_owner(Some(connection)).set_relevancy(Relevancy::OwnerOnly);
                world.entity_mut(client).insert(Confirmations(object));
            }
        }
    });
}

/// Returns the predicted components of those entities that have any. An entity is omitted in this tick if one
/// of its values cannot be sent.
fn states(world: &World, kinds: &Kinds, entities: impl Iterator<Item = Entity>) -> States {
    let (mut count, mut writer) = (0_u16, BitWriter::default());
    for entity in entities.filter_map(|entity| world.get_entity(entity).ok()).take(usize::from(u16::MAX)) {
        let before = writer.bit_len();
        if write(kinds, entity, &mut writer).is_some() {
            count += 1;
        } else {
            writer.truncate(before);
        }
    }
    States::new(count, writer)
}

/// Writes the name and the predicted components of an entity. Writes nothing if it has no predicted
/// component.
fn write(kinds: &Kinds, entity: EntityRef<'_>, writer: &mut BitWriter) -> Option<()> {
    kinds.iter().any(|kind| kind.is_on(entity)).then_some(())?;
    entity.get::<NetEntity>()?.write(writer).ok()?;
    kinds.iter().try_for_each(|kind| kind.write(entity, writer)).ok()
}
