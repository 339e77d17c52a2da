mod all {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    #[replicated(all)]
    struct Item {
        kind: u16,
    }
}

mod attribute_of_the_type_on_a_field {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(callbacks)]
        kind: u16,
    }
}

mod bare_condition {
    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(OwnerOnly)]
        count: u8,
    }
}

mod condition {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(condition = OwnerOnly)]
        kind: u16,
    }
}

mod delta {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(delta)]
        name: String,
    }
}

mod enum_as_item {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    enum Item {
        #[default]
        Nothing,
        Sword {
            sharpness: u8,
        },
    }
}

mod holds_itself {
    use repl::{FastArray, FastArrayItem};

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        kind: u16,
        parts: FastArray<Item>,
    }
}

mod lifetime {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item<'a> {
        kind: u16,
        name: &'a str,
    }
}

mod misspelt_attribute {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(quantise(step = 0.5, range = 0.0..=1.0))]
        kind: f32,
    }
}

mod misspelt_notify {
    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(notfy = on_count)]
        count: u8,
    }
}

mod notify {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(notify = on_kind)]
        kind: u16,
    }
}

mod notify_always {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(notify_always)]
        kind: u16,
    }
}

mod push {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(push)]
        kind: u16,
    }
}

mod s15_both_derives {
    use repl::{FastArrayItem, NetSerialize};

    #[derive(FastArrayItem, NetSerialize, Clone, Default)]
    struct Item {
        kind: u16,
    }
}

mod s15_object_and_item {
    use repl::prelude::*;

    #[derive(Replicated, FastArrayItem, Clone, Default)]
    struct Gem {
        #[replicated]
        colour: u8,
    }
}

mod saturate_without_bounds {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(saturate)]
        kind: u16,
    }
}

mod skipped_and_quantised {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        kind: u16,
        #[replicated(skip, quantize(step = 0.5, range = 0.0..=1.0))]
        wear: f32,
    }
}

mod starts_off {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(starts_off)]
        kind: u16,
    }
}

mod two_fields_of_one_name {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        kind: u16,
        #[replicated(name = "kind")]
        class: u16,
    }
}

mod union {
    use repl::FastArrayItem;

    #[derive(FastArrayItem)]
    union Item {
        whole: u32,
        halves: [u16; 2],
    }
}

mod unknown_attribute {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        #[replicated(colour = 3)]
        kind: u16,
    }
}

fn main() {}
