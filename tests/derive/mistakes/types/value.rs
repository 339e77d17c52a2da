mod field_that_cannot_travel {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone)]
    enum Event {
        Nothing,
        At { time: std::time::Instant },
    }
}

mod float_key {
    use std::collections::HashMap;

    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    struct Heights {
        by_distance: HashMap<f32, u8>,
    }
}

mod message_without_a_derive {
    use repl::prelude::*;

    struct Chat(String);

    fn used() {
        Server::new(ServerConfig::default()).register_message::<Chat>(Channel::Ordered);
    }
}

mod no_clone {
    use repl::NetSerialize;

    #[derive(NetSerialize)]
    struct Item {
        kind: u16,
    }
}

mod skipped_field_without_default {
    use repl::NetSerialize;

    #[derive(Clone)]
    struct Opened;

    #[derive(NetSerialize, Clone)]
    struct Item {
        kind: u16,
        #[replicated(skip)]
        opened: Opened,
    }
}

fn main() {}
