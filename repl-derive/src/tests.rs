//! Snapshots of the code that the derives and `#[rpcs]` generate.
//!
//! *Invariant:* each snapshot shows one feature, so that a changed snapshot shows which feature changed.

use proc_macro2::TokenStream;
use quote::quote;

use crate::derive::Derive;
use crate::expand::derive;
use crate::rpcs::rpcs;

/// Returns the expansion as formatted source, without the list of lints at its start.
fn expanded(kind: Derive, input: TokenStream) -> String {
    let file = syn::parse2(derive(kind, input)).expect("an expansion is a list of items");
    let source = prettyplease::unparse(&file);
    match source.split_once("const _: () = {") {
        Some((_, items)) => format!("const _: () = {{{items}"),
        None => source,
    }
}

#[test]
fn commas_of_generic_arguments_do_not_end_an_argument() {
    let source = expanded(
        Derive::Replicated,
        quote! {
            struct Player {
                #[replicated(max_len = most::<3, 4>(), push)]
                few: Vec<u8>,
                #[replicated(max_len = 1 << 3, push)]
                more: Vec<u8>,
            }
        },
    );
    assert!(source.contains("most::<3, 4>()") && !source.contains("compile_error"), "{source}");
}

#[test]
fn large_bounds_of_a_range_are_compared_as_integers() {
    let source = derive(
        Derive::Replicated,
        quote! {
            struct Player {
                #[replicated(range = 18446744073709551614..=18446744073709551615)]
                last: u64,
            }
        },
    )
    .to_string();
    assert!(!source.contains("compile_error"), "{source}");
}

#[test]
fn self_with_arguments_gets_brackets_at_the_start_of_a_path() {
    let block = quote! {
        impl Squad<u8> {
            #[rpc(server, reliable)]
            fn fire(&mut self, shots: [u8; Self::MOST], by: ObjectRef<Self>) {}
        }
    };
    let source = rpcs(TokenStream::new(), block, None).to_string().replace(' ', "");
    assert!(source.contains("shots:[u8;<Squad<u8>>::MOST],by:ObjectRef<Squad<u8>>"), "{source}");
}

macro_rules! snapshot {
    ($name:ident, $kind:ident, $($input:tt)*) => {
        #[test]
        fn $name() {
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(expanded(Derive::$kind, quote!($($input)*)));
            });
        }
    };
}

macro_rules! snapshot_of_calls {
    ($name:ident, ($($arguments:tt)*) $($input:tt)*) => {
        #[test]
        fn $name() {
            let file = syn::parse2(rpcs(quote!($($arguments)*), quote!($($input)*), None));
            let source = prettyplease::unparse(&file.expect("an expansion is a list of items"));
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(source);
            });
        }
    };
}

snapshot!(
    an_object_has_a_table_and_a_static_program,
    Replicated,
    struct Player {
        #[replicated]
        health: u16,
        #[replicated(condition = OwnerOnly, push)]
        ammo: u16,
        cooldown: f32,
    }
);

snapshot!(
    a_location_is_an_implementation_of_located,
    Replicated,
    struct Wolf<P> {
        #[replicated(location)]
        position: P,
    }
);

snapshot!(
    forms_of_numbers_are_calls_on_the_entry,
    Replicated,
    #[replicated(all)]
    struct Numbers {
        #[replicated(bits = 5)]
        bits: i8,
        #[replicated(range = -10..=MOST, saturate)]
        range: i16,
        #[replicated(quantize(step = 0.01, range = -1.5..=LIMIT))]
        steps: [f32; 3],
        #[replicated(quantize(smallest_three = 10))]
        rotation: [f32; 4],
        #[replicated(quantize(unit_vector = 12))]
        aim: [f32; 3],
        #[replicated(max_len = 64)]
        name: String,
    }
);

snapshot!(
    a_notify_is_a_call_with_the_old_value,
    Replicated,
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
        #[replicated]
        silent: u16,
        #[replicated(notify = self::on_ammo, notify_always)]
        ammo: u16,
    }
);

snapshot!(
    own_serialisers_are_types,
    Replicated,
    struct Player {
        #[replicated(with = crate::wire::heading)]
        heading: f32,
        #[replicated(atomic)]
        score: (u16, u16),
    }
);

snapshot!(
    parameters_are_bounded_as_fields_need,
    Replicated,
    struct Squad<T: Copy, const N: usize = 4>
    where
        T: Send,
    {
        #[replicated(bits = 4)]
        members: [T; N],
        #[replicated(with = list)]
        list: List<T>,
        #[replicated]
        leader: ObjectRef<Self>,
        #[replicated]
        size: u8,
        local: T,
    }
);

snapshot!(
    names_and_paths_can_be_given,
    Replicated,
    #[replicated(name = "Hero", crate = "engine::replication", callbacks)]
    struct Player(#[replicated(name = "hp")] u16, #[replicated] bool);
);

snapshot!(
    raw_identifiers_lose_their_mark,
    Replicated,
    struct r#struct {
        #[replicated(notify = r#fn)]
        r#type: u8,
    }
);

snapshot!(a_struct_without_fields_is_an_object, Replicated, struct Marker;);

snapshot!(
    a_value_writes_its_fields_in_order,
    NetSerialize,
    struct Item {
        kind: u16,
        #[replicated(range = 0..=99)]
        count: u16,
        #[replicated(skip)]
        price: u32,
        #[replicated(with = wire)]
        age: Duration,
    }
);

snapshot!(
    an_enum_writes_its_variant_first,
    NetSerialize,
    enum Event {
        Joined {
            name: String,
        },
        Moved(f32, #[replicated(skip)] f32),
        #[default]
        #[replicated(name = "Gone")]
        Left,
    }
);

snapshot!(
    an_enum_of_one_variant_has_no_tag,
    NetSerialize,
    enum Only {
        One(u8),
    }
);

snapshot!(
    a_generic_value_is_bounded_as_its_fields_need,
    NetSerialize,
    struct Pair<A, B = A>(A, #[replicated(skip)] Option<B>);
);

snapshot!(
    an_item_has_a_table_and_a_layout,
    FastArrayItem,
    struct Item {
        kind: u16,
        #[replicated(range = 0..=99, saturate)]
        count: u16,
        #[replicated(skip)]
        price: u32,
        #[replicated(with = wire)]
        age: Duration,
        sockets: FastArray<Socket>,
    }
);

snapshot!(
    an_item_that_is_told_has_no_callbacks_of_the_derive,
    FastArrayItem,
    #[replicated(callbacks, name = "Slot", crate = "engine::replication")]
    struct Item(u16);
);

snapshot!(
    a_generic_item_is_bounded_as_its_fields_need,
    FastArrayItem,
    struct Slot<T: Copy, const N: usize = 4> {
        #[replicated(bits = 4)]
        members: [T; N],
        #[replicated(atomic)]
        pair: (T, T),
    }
);

snapshot!(
    after_an_error_stubs_stand_in,
    Replicated,
    struct Player<T> {
        #[replicated(condition = Owner)]
        health: T,
    }
);

snapshot!(
    an_editor_has_setters_with_the_docs_and_the_visibility_of_the_fields,
    Replicated,
    pub struct Player {
        /// From 0 to 100.
        #[replicated(push)]
        pub health: u16,
        #[deprecated]
        #[replicated(push)]
        pub(crate) slots: [u8; 4],
        #[replicated]
        slots_mut: bool,
        local: u8,
    }
);

snapshot!(
    setters_of_a_tuple_have_numbers,
    Replicated,
    struct Pair(#[replicated] u8, u16, #[replicated(with = halves)] [f32; 2]);
);

snapshot!(
    after_an_error_of_an_item_stubs_stand_in,
    FastArrayItem,
    struct Item {
        #[replicated(push)]
        kind: u16,
    }
);

snapshot_of_calls!(
    calls_of_every_kind_are_an_enum_and_its_methods,
    ()
    impl Player {
        /// Fires at a place.
        #[rpc(server, reliable, validate = may_fire, per_second = 10)]
        pub fn fire(
            call: &mut ServerCall<'_, Self>,
            direction: u16,
            #[replicated(quantize(step = 0.01, range = -100.0..=100.0))] at: [f32; 3],
        ) {
            call.ammo -= 1;
        }

        fn may_fire(&self, caller: ConnectionId, direction: &u16, at: &[f32; 3]) -> bool {
            self.ammo > 0
        }

        #[rpc(client, reliable, waits)]
        fn hit(call: &mut ClientCall<'_, Self>, by: ObjectRef<Self>) {}

        #[rpc(multicast, unreliable)]
        fn explode(_: &mut MulticastCall<'_, Self>) {}

        #[rpc(server, unreliable)]
        pub(crate) fn wave(kind: u8);
    }
);

snapshot_of_calls!(
    calls_with_names_and_paths_of_their_own,
    (crate = "engine::replication")
    impl crate::Squad<u8> {
        const MOST: u8 = 9;

        #[rpc(server, reliable, name = "move", validate = crate::rules::may_move, per_second = MOVES)]
        fn r#move(&mut self, #[replicated(range = 0..=Self::MOST)] r#type: u8) {}

        #[replicated::rpc(client, unreliable)]
        fn look(&self, #[replicated(with = heading)] mut heading: f32) {}
    }
);

snapshot_of_calls!(
    after_an_error_calls_have_stubs,
    ()
    impl Player {
        #[rpc(server)]
        fn fire(&mut self, direction: u16, name: &str, (x, y): (f32, f32)) {}

        fn helper(&self);
    }
);

fn block_of(calls: usize) -> TokenStream {
    let names = (0..calls).map(|number| quote::format_ident!("call_{}", number));
    quote!(impl Player { #(#[rpc(server, unreliable)] fn #names();)* })
}

#[test]
fn a_type_has_at_most_256_calls() {
    assert_eq!(crate::rpcs::MAX_CALLS, 256);
    assert!(!rpcs(TokenStream::new(), block_of(256), None).to_string().contains("compile_error"));
    let output = rpcs(TokenStream::new(), block_of(257), None).to_string();
    assert_eq!(output.matches("compile_error").count(), 1);
    assert!(output.contains("a type has at most 256 calls"));
}

#[test]
fn every_mistake_of_a_block_of_calls_is_reported() {
    let output = rpcs(
        quote!(krate = "repl"),
        quote! {
            impl Player {
                #[rpc(server, reliabel)]
                fn fire(&mut self, #[replicated(skip)] direction: u16) -> bool {}
                #[rpc(client, multicast, reliable)]
                async fn hit(self, by: &str) {}
            }
        },
        None,
    );
    assert_eq!(output.to_string().matches("compile_error").count(), 8);
}

#[test]
fn every_mistake_of_an_input_is_reported() {
    let output = derive(
        Derive::Replicated,
        quote! {
            #[replicated(alll)]
            struct Player {
                #[replicated(condition = Owner)]
                ammo: u16,
                #[replicated(bits = 65)]
                health: u16,
            }
        },
    );
    assert_eq!(output.to_string().matches("compile_error").count(), 3);
}

#[test]
fn input_that_does_not_parse_is_reported_unchanged() {
    let output = derive(
        Derive::NetSerialize,
        quote!(
            fn main() {}
        ),
    );
    assert!(output.to_string().contains("compile_error"));
}
