//! The groups of the clients of a server.

use bevy_app::App;
use bevy_ecs::lifecycle::Discard;
use bevy_ecs::prelude::*;
use repl::ConnectionHandle;
use repl::prelude::*;

use super::state::ReplServer;

/// The [groups](Group) of a client, as a component of the client's entity. To change the groups, insert the
/// component again.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
#[component(immutable)]
pub struct MemberOf(pub Vec<Group>);

/// Lets the server apply changes of [`MemberOf`].
pub(super) fn add_groups(app: &mut App) {
    app.add_observer(
        |joined: On<Insert<MemberOf>>, members: Query<&MemberOf>, mut server: ResMut<ReplServer>| {
            change_groups(joined.entity, &members, &mut server, |connection, group| {
                connection.join_group(group);
            });
        },
    );
    app.add_observer(
        |left: On<Discard<MemberOf>>, members: Query<&MemberOf>, mut server: ResMut<ReplServer>| {
            change_groups(left.entity, &members, &mut server, |connection, group| {
                connection.leave_group(group);
            });
        },
    );
}

fn change_groups(
    client: Entity,
    members: &Query<&MemberOf>,
    server: &mut ReplServer,
    change: impl Fn(&mut ConnectionHandle<'_>, Group),
) {
    let (Ok(MemberOf(groups)), Some(connection)) = (members.get(client), server.connection_of(client)) else {
        return;
    };
    groups.iter().for_each(|&group| change(&mut server.connection(connection), group));
}
