//! Setters are generated for fields of every kind, and no lint finds anything in them.
#![forbid(unsafe_code)]
#![deny(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    non_snake_case,
    private_bounds,
    private_interfaces,
    unnameable_types,
    unused,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]
#![allow(clippy::missing_const_for_fn)]

use repl::prelude::*;

pub mod world {
    //! What other crates may use.

    use repl::prelude::*;

    /// An object that others know.
    #[derive(Replicated, Default, Debug)]
    pub struct Door {
        /// How wide it is open.
        #[replicated(push)]
        pub angle: u16,
        #[replicated(push)]
        pub(crate) locks: [u8; 4],
        #[replicated]
        name: String,
        /// The type.
        #[replicated]
        pub r#type: u8,
        /// Never leaves the server.
        pub local: u8,
    }

    /// Opens a door.
    pub fn open(server: &mut Server, door: ObjectRef<Door>) {
        server.edit(door).angle(90).name("open".to_owned());
        server.edit(door).name_mut().push('!');
    }
}

/// Names that could be confused with others.
#[allow(non_snake_case, reason = "a setter has the name of its field")]
#[derive(Replicated, Default, Debug)]
struct Names {
    #[replicated]
    new: u8,
    #[replicated]
    clone: u8,
    #[replicated]
    deref: u8,
    #[replicated]
    set: u8,
    #[replicated]
    value: [u8; 2],
    #[replicated]
    value_mut: u8,
    #[replicated]
    value_at: u8,
    #[replicated]
    object: u8,
    #[replicated]
    marker: u8,
    #[replicated]
    edit: u8,
    #[replicated]
    at: u8,
    #[replicated]
    HeatMap: u8,
}

#[derive(Replicated, Default, Debug)]
struct Pair(#[replicated] u8, String, #[replicated(push)] [u16; 2]);

#[derive(Replicated, Default, Debug)]
struct Nothing;

#[derive(Replicated, Debug)]
struct Generic<T: Default, const N: usize>
where
    T: Copy,
{
    #[replicated(push)]
    one: T,
    #[replicated(push)]
    many: [T; N],
    #[replicated(push)]
    bytes: [u8; N],
}

impl<T: Copy + Default, const N: usize> Default for Generic<T, N> {
    fn default() -> Self {
        Self { one: T::default(), many: [T::default(); N], bytes: [0; N] }
    }
}

/// Old, but still there.
#[derive(Replicated, Default, Debug)]
struct Relic {
    #[deprecated]
    #[replicated]
    age: u32,
}

macro_rules! object {
    ($name:ident, $ty:ty, $field:ident) => {
        #[derive(Replicated, Default, Debug)]
        struct $name {
            #[replicated(push)]
            $field: $ty,
        }
    };
}

object!(Made, [u8; 3], parts);

fn main() {
    let mut server = Server::new(ServerConfig::default());
    let door = server.spawn(world::Door::default());
    world::open(&mut server, door);
    server.edit(door).r#type(3).locks_at(2, 7).locks_mut()[1] = 6;
    *server.edit(door).type_mut() += 1;
    assert_eq!((server[door].angle, server[door].locks, server[door].r#type), (90, [0, 6, 7, 0], 4));

    let names = server.spawn(Names::default());
    server.edit(names).new(1).clone(2).deref(3).set(4).value([5, 6]).value_mut(7).value_at(8);
    server.edit(names).object(9).marker(10).edit(11).at(12).HeatMap(13);
    *server.edit(names).value_mut_mut() += 1;
    let Names { new, clone, deref, set, value, value_mut, value_at, .. } = &server[names];
    assert_eq!((new, clone, deref, set, value, value_mut, value_at), (&1, &2, &3, &4, &[5, 6], &8, &8));
    let Names { object, marker, edit, at, HeatMap: heat, .. } = &server[names];
    assert_eq!((object, marker, edit, at, heat), (&9, &10, &11, &12, &13));

    let pair = server.spawn(Pair::default());
    server.edit(pair).field_0(1).field_2([2, 3]).field_2_at(0, 4);
    assert_eq!((server[pair].0, server[pair].2, server[pair].1.len()), (1, [4, 3], 0));

    let nothing = server.spawn(Nothing);
    let _: &Nothing = &server.edit(nothing);

    let generic = server.spawn(Generic::<u16, 3>::default());
    server.edit(generic).one(4).many([1, 2, 3]).bytes_at(1, 9);
    assert_eq!((server[generic].one, server[generic].many, server[generic].bytes), (4, [1, 2, 3], [0, 9, 0]));

    let relic = server.spawn(Relic::default());
    #[allow(deprecated)]
    server.edit(relic).age(5);
    #[allow(deprecated)]
    let age = server[relic].age;
    assert_eq!(age, 5);

    let made = server.spawn(Made::default());
    server.edit(made).parts_at(0, 1);
    assert_eq!(server[made].parts, [1, 0, 0]);

    // A type inside of a function.
    #[derive(Replicated, Default, Debug)]
    struct Inside {
        #[replicated(push)]
        depth: u8,
    }
    fn dive(mut inside: repl::Edit<'_, Inside>) {
        let depth = inside.depth;
        inside.depth(depth + 1);
    }
    let inside = server.spawn(Inside::default());
    dive(server.edit(inside));
    assert_eq!(server[inside].depth, 1);
}
