// SPDX-License-Identifier: Apache-2.0
/// The fields of a value in one heap allocation, copied on the first change while they are shared.
///
/// A copy of the value costs one pointer: a request and its result pass through many functions.
struct CopyOnWriteBox<Fields> {
    // A buffer's header rather than the properties of a class: the runtime checks exclusivity on every access to a
    // class's properties, which the value semantics of the enclosing structure already guarantee. The header's address
    // is stable for the lifetime of the buffer.
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

// @unchecked Sendable: the fields change only while they are uniquely referenced, and every one of them is Sendable.
extension CopyOnWriteBox: @unchecked Sendable where Fields: Sendable {}
