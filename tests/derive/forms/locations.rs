//! A field of an object can be the position of the object.

#![forbid(unsafe_code)]

use repl::{Area, Coordinates, Located, NetSerialize, Replicated, Server, ServerConfig};

#[derive(Replicated, Default)]
struct Wolf {
    #[replicated(location)]
    r#where: [f32; 3],
}

/// A type of the user.
#[derive(NetSerialize, Clone, Default)]
struct Transform {
    translation: [f64; 2],
    angle: f32,
}

impl Coordinates for Transform {
    const IS_FLAT: bool = true;

    fn coordinates(&self) -> [f32; 3] {
        self.translation.coordinates()
    }
}

/// A location with all other attributes that such a field can have.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    #[replicated(location, push, condition = SkipOwner, notify = on_place, name = "position")]
    place: Transform,
}

impl Ship {
    fn on_place(&mut self) {}
}

#[derive(Replicated, Default)]
struct Tuple(#[replicated(location, quantize(step = 0.5, range = -100.0..=100.0), saturate)] [f32; 2]);

#[derive(Replicated, Default)]
struct Tile {
    #[replicated(location, atomic)]
    at: [u16; 2],
}

/// The bound is needed only if the positions of the class are used.
#[derive(Replicated, Default)]
struct Generic<P> {
    #[replicated(location)]
    at: P,
}

fn is_flat<T: Located>() -> bool {
    T::IS_FLAT
}

#[test]
fn these_forms_are_accepted() {
    let mut server = Server::new(ServerConfig::default());
    server.class::<Wolf>().set_area(Area::within(1.0));
    server.class::<Ship>().set_area(Area::within(1.0));
    server.class::<Tuple>().set_area(Area::within(1.0));
    server.class::<Tile>().set_area(Area::within(1.0));
    server.class::<Generic<[f32; 3]>>().set_area(Area::within(1.0));
    assert!(!is_flat::<Wolf>() && is_flat::<Ship>() && is_flat::<Tuple>() && is_flat::<Tile>());
    assert_eq!(Tile { at: [3, 4] }.location(), [3.0, 4.0, 0.0]);
    let _unlocated = Generic { at: String::new() };
}
