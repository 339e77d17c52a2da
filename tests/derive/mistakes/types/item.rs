mod array_as_item {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        rows: FastArray<FastArray<u8>>,
    }
}

mod callbacks_not_said {
    use repl::{FastArrayItem, ItemCallbacks};

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        kind: u16,
    }

    impl ItemCallbacks for Item {}
}

mod callbacks_not_written {
    use repl::FastArrayItem;

    #[derive(FastArrayItem, Clone, Default)]
    #[replicated(callbacks)]
    struct Item {
        kind: u16,
    }
}

mod callbacks_of_objects {
    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    #[replicated(callbacks)]
    struct Item {
        count: u8,
    }

    impl Callbacks for Item {}
}

mod field_that_cannot_travel {
    use std::time::Instant;

    use repl::FastArrayItem;

    #[derive(FastArrayItem)]
    struct Item {
        kind: u16,
        made: Instant,
    }

    impl Default for Item {
        fn default() -> Self {
            Self { kind: 0, made: Instant::now() }
        }
    }
}

mod no_default {
    use repl::FastArrayItem;

    #[derive(FastArrayItem)]
    struct Item {
        kind: u16,
    }
}

mod not_derived {
    use repl::{FastArray, Replicated};

    #[derive(Replicated, Default)]
    struct Bag {
        #[replicated]
        items: FastArray<Item>,
    }

    #[derive(Clone, Default)]
    struct Item {
        kind: u16,
    }
}

mod object_as_item {
    use repl::prelude::*;

    #[derive(Replicated, Clone, Default)]
    struct Gem {
        #[replicated]
        colour: u8,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        gems: FastArray<Gem>,
    }
}

mod skipped_field_is_not_send {
    use std::rc::Rc;

    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    struct Item {
        count: u8,
        #[replicated(skip)]
        icon: Rc<u8>,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        items: FastArray<Item>,
    }
}

mod tuple_as_item {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: FastArray<(u8, u16)>,
    }
}

mod vec_as_item {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        paths: FastArray<Vec<u8>>,
    }
}

fn main() {}
