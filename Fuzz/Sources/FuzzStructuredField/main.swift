// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// The lines are read as a list, as a dictionary and as an item.
fuzz { start, count in
    let lines = lines(start, count)
    if let list = StructuredField.list(fieldValues: lines), !list.isEmpty {
        precondition(StructuredField.list(fieldValues: lines + lines) == list + list, "lists cannot be joined")
    }
    if let members = StructuredField.dictionary(fieldValues: lines), !members.isEmpty {
        precondition(StructuredField.dictionary(fieldValues: lines + lines) == members, "overwriting changes it")
        precondition(members.keys.allSatisfy { members[$0] != nil }, "a key without a value")
    }
    if let item = StructuredField.item(fieldValues: lines) {
        precondition(StructuredField.list(fieldValues: lines) == [.item(item)], "an item is not a list of one")
        if case .string(let text) = item.value {
            let written = StructuredField.serialize(text).map { [$0] } ?? []
            precondition(StructuredField.item(fieldValues: written)?.value == item.value, "cannot be written")
        }
    }
    return 0
}
