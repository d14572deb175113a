/// The fields of a value behind one pointer, copied where they are changed while another value has them, too.
///
/// What a request is handed through costs a pointer then: a request in mid-chain stands in the frames of a dozen
/// asynchronous functions, and its result is handed back through as many.
struct Boxed<Fields> {
    // A buffer's header, and not the properties of a class: each access to these is checked for exclusivity at run
    // time, which the value semantics of the structure around it guarantees already, where the compiler checks those
    // of that. The header is a stored property of the buffer, so its address holds for as long as the buffer.
    private var storage: ManagedBuffer<Fields, Void>

    init(_ fields: Fields) { storage = Self.store(fields) }

    var fields: Fields {
        _read {
            yield storage.withUnsafeMutablePointerToHeader { $0 }.pointee
            withExtendedLifetime(storage) {}
        }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Self.store(fields) }
            yield &storage.withUnsafeMutablePointerToHeader { $0 }.pointee
            withExtendedLifetime(storage) {}
        }
    }

    private static func store(_ fields: Fields) -> ManagedBuffer<Fields, Void> {
        Storage.create(minimumCapacity: 0) { _ in fields }
    }

    private final class Storage: ManagedBuffer<Fields, Void> {}
}

// @unchecked Sendable: the fields are changed only while one value has them, and every one of them is Sendable.
extension Boxed: @unchecked Sendable where Fields: Sendable {}
