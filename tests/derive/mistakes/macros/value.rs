mod all {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    #[replicated(all)]
    struct Item {
        kind: u16,
    }
}

mod callbacks {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    #[replicated(callbacks)]
    struct Item {
        kind: u16,
    }
}

mod condition {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    struct Item {
        #[replicated(condition = OwnerOnly)]
        kind: u16,
    }
}

mod delta {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    struct Item {
        #[replicated(delta)]
        name: String,
    }
}

mod no_variants {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone)]
    enum Nothing {}
}

mod notify {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    struct Item {
        #[replicated(notify = on_kind)]
        kind: u16,
    }
}

mod push {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone, Default)]
    struct Item {
        #[replicated(push)]
        kind: u16,
    }
}

fn main() {}
