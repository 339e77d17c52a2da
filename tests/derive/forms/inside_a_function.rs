//! The macros work for types in functions, from macros and in private modules.

use repl::{NetSerialize, Replicated, Rpcs, rpcs};

macro_rules! object {
    ($name:ident, $field:ident: $type:ty, $condition:ident, $most:expr) => {
        #[derive(Replicated, Default)]
        struct $name {
            #[replicated(condition = $condition, max_len = $most)]
            $field: $type,
        }
    };
}

object!(Named, name: String, InitialOnly, 8 * 2);

macro_rules! ranged {
    ($name:ident, $range:expr, $most:literal) => {
        #[derive(Replicated, Default)]
        struct $name {
            #[replicated(range = $range)]
            ranged: u8,
            #[replicated(quantize(step = 0.5, range = 0.0..=$most))]
            quantized: f32,
        }
    };
}

ranged!(Ranged, 1..=8, 4.0);

macro_rules! calls {
    ($name:ident, $function:ident, $parameter:ident: $type:ty, $range:expr) => {
        #[rpcs]
        impl $name {
            #[rpc(server, reliable)]
            fn $function(&mut self, #[replicated(range = $range)] $parameter: $type) {
                self.ranged = $parameter;
            }
        }
    };
}

calls!(Ranged, change, value: u8, 0..=9);

mod private {
    #[derive(repl::Replicated, Default)]
    #[replicated(all)]
    pub(super) struct Hidden {
        pub(super) field: Secret,
    }

    #[derive(repl::NetSerialize, Clone, Default)]
    pub(super) struct Secret(pub(super) u8);
}

#[test]
fn these_forms_are_accepted() {
    #[derive(Replicated, Default)]
    struct Local {
        #[replicated]
        value: Inner,
    }

    #[derive(NetSerialize, Clone, Default)]
    struct Inner(u8);

    #[rpcs]
    impl Local {
        #[rpc(server, reliable)]
        fn set(&mut self, value: Inner) {
            self.value = value;
        }
    }

    assert_eq!((Local::CALLS.len(), Ranged::CALLS.len()), (1, 1));
    assert_eq!((Local::LAYOUT.properties(), Local::default().value.0), (1, 0));
    assert!(Named::default().name.is_empty());
    assert_eq!(private::Hidden::default().field.0, 0);
    Local::program();
    Named::program();
    assert_eq!((Ranged::default().ranged, Ranged::default().quantized), (0, 0.0));
    Ranged::program();
}
