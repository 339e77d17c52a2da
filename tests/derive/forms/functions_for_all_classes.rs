use repl::WithoutFastArrays;
use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u8,
}

#[derive(Replicated, Default)]
struct Slot<T: Default> {
    #[replicated]
    item: T,
}

fn spawn<T: Replicated>(server: &mut Server) -> ObjectRef<T> {
    server.spawn(T::default())
}

fn hand_over<T: WithoutFastArrays>(server: &mut Server, live: &T) {
    let object = server.external().spawn(live);
    server.external().compare(object, live).unwrap();
}

#[test]
fn these_forms_are_accepted() {
    let mut server = Server::new(ServerConfig::default());
    spawn::<Slot<u16>>(&mut server);
    hand_over(&mut server, &Player::default());
    hand_over(&mut server, &Slot::<u8>::default());
}
